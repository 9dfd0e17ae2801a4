package io.journalq.client.internal.network;

import io.journalq.client.security.TlsConfig;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * Encrypts the connections of a client. Uses BoringSSL if Netty's library is on the class path, and otherwise the JDK.
 * Immutable, any thread.
 */
public final class TlsClient {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final String HOST_NAMES = "HTTPS";

    private final SslContext context;

    /** @throws IllegalArgumentException when the implementation refuses the configuration */
    public TlsClient(TlsConfig config) {
        try {
            SslContextBuilder builder = SslContextBuilder.forClient()
                    .sslProvider(OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK)
                    .protocols(PROTOCOLS)
                    .trustManager(config.trustManager())
                    .endpointIdentificationAlgorithm(config.isHostNameVerified() ? HOST_NAMES : null);
            if (config.keyManager() != null) {
                builder.keyManager(config.keyManager());
            }
            this.context = builder.build();
        } catch (SSLException refused) {
            throw new IllegalArgumentException("cannot use " + config + ": " + refused.getMessage(), refused);
        }
    }

    /** Returns the engine for a connection to {@code address} that has no event loop. The caller releases it. */
    SSLEngine engine(HostAndPort address) {
        return context.newEngine(ByteBufAllocator.DEFAULT, address.host(), address.port());
    }

    /** Returns the handler for a connection to {@code address}. */
    SslHandler handler(Channel channel, HostAndPort address, int timeoutMs) {
        SslHandler handler = context.newHandler(channel.alloc(), address.host(), address.port());
        handler.setHandshakeTimeoutMillis(timeoutMs);
        return handler;
    }
}
