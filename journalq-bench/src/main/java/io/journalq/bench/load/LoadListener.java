package io.journalq.bench.load;

import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;

/** A listener of a broker, and how connections to it begin: at once, with a handshake of TLS, or with a login. One thread. */
public final class LoadListener {
    private final InetSocketAddress address;
    /** Null for connections without TLS. */
    private final SslContext tls;
    /** Null for connections without a login. */
    private final ScramLogin login;

    private LoadListener(InetSocketAddress address, SslContext tls, ScramLogin login) {
        this.address = address;
        this.tls = tls;
        this.login = login;
    }

    /**
     * A listener without logins.
     *
     * @param tls null for plain connections
     */
    public static LoadListener of(InetSocketAddress address, SslContext tls) {
        return new LoadListener(address, tls, null);
    }

    /** A listener without TLS, at which a user logs in by SCRAM-SHA-256. */
    public static LoadListener withLogin(InetSocketAddress address, String user, String password) {
        return new LoadListener(address, null, new ScramLogin(user, password));
    }

    LoadSocket connect() throws IOException {
        return login == null ? LoadSocket.connect(address, tls) : LoadSocket.loggedIn(address, login);
    }
}
