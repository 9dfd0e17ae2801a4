package io.journalq.server.network.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.function.Predicate;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** The certificates that the files trust now, of owners that are accepted. Any thread. */
final class NewestTrust extends X509ExtendedTrustManager {
    private final Supplier<X509ExtendedTrustManager> newest;
    private final Predicate<X509Certificate> accepts;

    NewestTrust(Supplier<X509ExtendedTrustManager> newest, Predicate<X509Certificate> accepts) {
        this.newest = newest;
        this.accepts = accepts;
    }

    private void checkOwner(X509Certificate[] chain) throws CertificateException {
        if (!accepts.test(chain[0])) {
            throw new CertificateException("the certificate is not that of a broker of the cluster");
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        newest.get().checkClientTrusted(chain, authType);
        checkOwner(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        newest.get().checkClientTrusted(chain, authType, socket);
        checkOwner(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        newest.get().checkClientTrusted(chain, authType, engine);
        checkOwner(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
        newest.get().checkServerTrusted(chain, authType);
        checkOwner(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        newest.get().checkServerTrusted(chain, authType, socket);
        checkOwner(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        newest.get().checkServerTrusted(chain, authType, engine);
        checkOwner(chain);
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return newest.get().getAcceptedIssuers();
    }
}
