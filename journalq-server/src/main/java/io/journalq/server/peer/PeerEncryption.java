package io.journalq.server.peer;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;

/** Encrypts connections to other brokers, so that each side knows that the other is a broker. Any thread. */
public interface PeerEncryption {
    /** The handler of a new connection. It checks that the certificate of the other side names {@code host}. */
    SslHandler handler(Channel channel, String host, int port);

    /** Whether the owner of a trusted certificate is a broker of the cluster. */
    boolean isBroker(X509Certificate certificate);
}
