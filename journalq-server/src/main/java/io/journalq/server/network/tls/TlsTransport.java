package io.journalq.server.network.tls;

import io.journalq.server.network.LoopContext;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.TlsFailure;
import io.journalq.server.network.Transport;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts the connections of listeners. New connections use the newest context. Open ones keep theirs, unless the
 * trusted certificates no longer cover that of their client. Any thread.
 */
public final class TlsTransport implements Transport {
    private static final Logger log = LoggerFactory.getLogger(TlsTransport.class);

    /** Time from the accepted connection to the end of the handshake. */
    private static final long MAX_HANDSHAKE_MS = 10_000;

    private final Executor handshakes;
    private final NetworkCounters counters;
    private final Map<Channel, X509Certificate[]> clients = new ConcurrentHashMap<>();
    private volatile TlsContext context;

    /** @param handshakes runs the expensive steps of handshakes */
    TlsTransport(TlsContext first, Executor handshakes, NetworkCounters counters) {
        this.context = first;
        this.handshakes = handshakes;
        this.counters = counters;
    }

    TlsContext context() {
        return context;
    }

    /**
     * Uses another context from now on. If it trusts other certificates, closes the connections of clients that it does not
     * trust.
     */
    void use(TlsContext newest) {
        boolean trustsOthers = !newest.trustsSameAs(context);
        context = newest;
        if (trustsOthers) {
            clients.forEach((channel, chain) -> closeIfUntrusted(newest, channel, chain));
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed
    private void closeIfUntrusted(TlsContext newest, Channel channel, X509Certificate[] chain) {
        if (!newest.trusts(chain)) {
            counters.onTlsFailure(TlsFailure.NO_LONGER_TRUSTED);
            log.warn(
                    "connection closed: client={} reason=\"{}\"",
                    channel.remoteAddress(),
                    TlsFailure.NO_LONGER_TRUSTED.reason());
            channel.close();
        }
    }

    /** The certificate that the broker presents. The settings must allow that it opens connections. */
    public X509Certificate ownCertificate() {
        return context.outbound().certificate();
    }

    /**
     * The handler of a connection that the broker opens to another one. The settings must allow that.
     *
     * @param host which the certificate of the other side must name
     */
    public SslHandler connect(Channel channel, String host, int port) {
        return context.outbound().ssl().newHandler(channel.alloc(), host, port, handshakes);
    }

    @Override
    public Line open(Channel channel, LoopContext loop) {
        TlsContext used = context;
        TlsWatch watch = new TlsWatch(loop, used.certificateRequired(), used::trusts, chain -> {
            clients.put(channel, chain);
            channel.closeFuture().addListener(closed -> clients.remove(channel));
            if (!context.digest().equals(used.digest())) {
                closeIfUntrusted(context, channel, chain); // The files changed during the handshake.
            }
        });
        RegionPump pump = new RegionPump(loop);
        TlsStart start =
                new TlsStart(() -> used.ssl().newHandler(channel.alloc(), handshakes), watch, MAX_HANDSHAKE_MS);
        channel.pipeline().addLast(start, watch, pump);
        return new TlsLine(watch, pump);
    }

    private record TlsLine(TlsWatch watch, RegionPump pump) implements Line {
        @Override
        public boolean carriesFrames() {
            return false;
        }

        @Override
        public long queuedBytes() {
            return pump.queuedBytes();
        }

        @Override
        public X509Certificate clientCertificate() {
            return watch.certificate();
        }
    }
}
