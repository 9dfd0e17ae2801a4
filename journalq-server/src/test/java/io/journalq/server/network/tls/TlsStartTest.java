package io.journalq.server.network.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.network.LoopContext;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.network.TestLoopContext;
import io.journalq.server.network.TlsFailure;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TlsStartTest {
    private static final int TIMEOUT_MS = 1_000;

    private final NetworkCounters counters = new NetworkCounters();
    private final LoopContext loop = TestLoopContext.of(new SteppedLoop(), SharedMemory.of(1 << 20, 1 << 20), counters);
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private int engines;

    @BeforeEach
    void open() throws SSLException {
        // The handshake does not get as far as the certificate, so that the side of a client does as well.
        SslContext context =
                SslContextBuilder.forClient().sslProvider(SslProvider.JDK).build();
        TlsWatch watch = new TlsWatch(loop, false, chain -> true, chain -> {});
        TlsStart start = new TlsStart(
                () -> {
                    engines++;
                    return context.newHandler(channel.alloc());
                },
                watch,
                TIMEOUT_MS);
        channel.freezeTime();
        channel.pipeline().addLast(start, watch);
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void pass(long ms) {
        channel.advanceTimeBy(ms, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
    }

    @Test
    void shouldCloseWithoutAnEngineWhenAClientSendsNothing() {
        pass(TIMEOUT_MS - 1);
        assertThat(channel.isOpen()).isTrue();

        pass(1);

        assertThat(channel.isOpen()).isFalse();
        assertThat(counters.tlsFailures(TlsFailure.TIMEOUT)).isEqualTo(1);
        assertThat(engines).isZero();
    }

    @Test
    void shouldCountAClientThatLeavesBeforeItBegins() {
        channel.close().syncUninterruptibly();

        assertThat(counters.tlsFailures(TlsFailure.DISCONNECTED)).isEqualTo(1);
        assertThat(engines).isZero();
    }

    @Test
    void shouldCloseWithoutAnEngineWhenTheFirstByteIsNotThatOfAHandshake() {
        ByteBuf plain = Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 22});

        channel.writeInbound(plain);

        assertThat(channel.isOpen()).isFalse();
        assertThat(counters.tlsFailures(TlsFailure.NOT_TLS)).isEqualTo(1);
        assertThat(plain.refCnt()).isZero();
        assertThat(engines).isZero();
    }

    @Test
    void shouldLeaveTheConnectionToTlsWhenTheFirstByteIsThatOfAHandshake() {
        channel.writeInbound(Unpooled.wrappedBuffer(new byte[] {22}));

        assertThat(channel.isOpen()).isTrue();
        assertThat(channel.pipeline().get(TlsStart.class)).isNull();
        assertThat(channel.pipeline().get(SslHandler.class)).isNotNull();
        assertThat(engines).isEqualTo(1);
    }

    @Test
    void shouldReleaseWhatHasArrivedWhenThereIsNoMemoryForAnEngine() {
        EmbeddedChannel other = new EmbeddedChannel();
        TlsWatch watch = new TlsWatch(loop, false, chain -> true, chain -> {});
        TlsStart start = new TlsStart(
                () -> {
                    throw new OutOfMemoryError("no engine");
                },
                watch,
                TIMEOUT_MS);
        other.pipeline().addLast(start, watch);
        ByteBuf hello = Unpooled.wrappedBuffer(new byte[] {22});

        assertThatThrownBy(() -> other.writeInbound(hello)).isInstanceOf(OutOfMemoryError.class);

        assertThat(hello.refCnt()).isZero();
        other.finishAndReleaseAll();
    }
}
