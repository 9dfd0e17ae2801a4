package io.journalq.server.network.tls;

import io.journalq.server.network.LoopContext;
import io.journalq.server.network.TlsFailure;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Counts the handshakes of a listener and the connections that TLS ends, and closes these. It passes on no exception of
 * TLS, because their messages contain what the client has sent. One for each connection, on its loop.
 */
final class TlsWatch extends ChannelInboundHandlerAdapter {
    private final LoopContext loop;
    private final boolean certificateRequired;
    private final Predicate<X509Certificate[]> isStillTrusted;
    private final Consumer<X509Certificate[]> onCertificate;
    private final long openedMs = System.currentTimeMillis();
    /** Null until the client begins. */
    private SslHandler tls;

    private X509Certificate certificate;
    private boolean failed;

    /**
     * Watches a connection.
     *
     * @param certificateRequired whether a client without a certificate is disconnected
     * @param isStillTrusted checks the chain of a client that has resumed a session, because TLS has not checked it again
     * @param onCertificate receives the chain of a client that has presented one
     */
    TlsWatch(
            LoopContext loop,
            boolean certificateRequired,
            Predicate<X509Certificate[]> isStillTrusted,
            Consumer<X509Certificate[]> onCertificate) {
        this.loop = loop;
        this.certificateRequired = certificateRequired;
        this.isStillTrusted = isStillTrusted;
        this.onCertificate = onCertificate;
    }

    /** The client has begun the handshake. */
    void onStart(SslHandler begun) {
        tls = begun;
    }

    /** The certificate of the client; null before the handshake, and if it has presented none. */
    X509Certificate certificate() {
        return certificate;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                onHandshake(context);
            } else {
                fail(context, failureOf(handshake.cause()));
            }
        }
        context.fireUserEventTriggered(event);
    }

    private void onHandshake(ChannelHandlerContext context) {
        loop.counters().onTlsHandshake();
        if (!certificateRequired
                && !tls.engine().getNeedClientAuth()
                && !tls.engine().getWantClientAuth()) {
            return;
        }
        try {
            SSLSession session = tls.engine().getSession();
            Certificate[] presented = session.getPeerCertificates();
            X509Certificate[] chain = Arrays.copyOf(presented, presented.length, X509Certificate[].class);
            if (session.getCreationTime() < openedMs && !isStillTrusted.test(chain)) {
                fail(context, TlsFailure.CERTIFICATE);
                return;
            }
            certificate = chain[0];
            onCertificate.accept(chain);
        } catch (SSLPeerUnverifiedException none) {
            certificate = null;
            if (certificateRequired) {
                // The implementation must not complete such a handshake. If it does, for example when it resumes a
                // session, the client must not become anonymous.
                fail(context, TlsFailure.CERTIFICATE);
            }
        }
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof DecoderException) {
            // Also follows each failed handshake, which is counted then.
            fail(context, failureOf(cause));
        } else if (cause instanceof SSLException) {
            context.close(); // A response was written after the client had ended TLS.
        } else {
            context.fireExceptionCaught(cause);
        }
    }

    /** Counts the failure, unless one was counted before, and closes the connection. */
    @SuppressWarnings("FutureReturnValueIgnored") // the future is not needed
    void fail(ChannelHandlerContext context, TlsFailure failure) {
        if (!failed) {
            failed = true;
            loop.counters().onTlsFailure(failure);
            if (failure != TlsFailure.DISCONNECTED) {
                loop.throttle().warn("connection closed", context.channel().remoteAddress(), failure.reason());
            }
        }
        context.close();
    }

    private static TlsFailure failureOf(Throwable cause) {
        for (Throwable each = cause; each != null; each = each.getCause()) {
            if (each instanceof NotSslRecordException) {
                return TlsFailure.NOT_TLS;
            } else if (each instanceof SslHandshakeTimeoutException) {
                return TlsFailure.TIMEOUT;
            } else if (each instanceof RejectedExecutionException) {
                return TlsFailure.OVERLOAD;
            } else if (each instanceof CertificateException || each instanceof SSLPeerUnverifiedException) {
                return TlsFailure.CERTIFICATE;
            } else if (each instanceof ClosedChannelException) {
                return TlsFailure.DISCONNECTED;
            }
        }
        return TlsFailure.PROTOCOL;
    }
}
