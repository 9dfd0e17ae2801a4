package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Admin;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.common.network.NameLookups;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The connections of a client in a process that lacks something for a while. */
@Timeout(60)
final class ClusterTest {
    /** Of the JDK, so that it refuses the sockets of epoll. */
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

    @AfterEach
    void stop() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void shouldFailTheCallsAndConnectAgainWhenThereIsNoSocket() {
        Cluster cluster = cluster(new Cluster.Listener() {});
        BlockingCalls calls = new BlockingCalls(cluster);
        for (int attempt = 0; attempt < 3; attempt++) {
            assertThatThrownBy(() -> calls.call(
                            BlockingCalls.ANY_BROKER,
                            ApiKey.METADATA,
                            1,
                            MetadataResponse.class,
                            version -> new MetadataRequest()))
                    .isInstanceOf(ConnectionFailedException.class)
                    .hasMessageContaining("cannot connect to localhost:1");
        }
    }

    @Test
    void shouldGoOnTickingWhenATickHasFailed() throws Exception {
        AtomicBoolean failed = new AtomicBoolean();
        CountDownLatch later = new CountDownLatch(2);
        Cluster cluster = cluster(new Cluster.Listener() {
            @Override
            public void onTick(long nowNanos) {
                if (failed.compareAndSet(false, true)) {
                    throw new OutOfMemoryError("of the test");
                }
                later.countDown();
            }
        });
        cluster.start();
        assertThat(later.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldServeOtherConnectionsWhileANameIsLookedUp() throws Exception {
        // given
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch found = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        NameLookups names = new NameLookups(host -> {
            looking.countDown();
            try {
                found.await();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            throw new UnknownHostException(host);
        });
        ClientLoop shared = ClientLoop.acquire();
        EventLoop loop = shared.eventLoop();
        BrokerConnection connection =
                new BrokerConnection(-1, new HostAndPort("slow", 1), config(), loop, new ClosedListener(closed));
        try {
            // when
            loop.execute(() -> connection.open(names));
            assertThat(looking.await(10, TimeUnit.SECONDS)).isTrue();

            // then
            assertThat(loop.submit(() -> "served").get(10, TimeUnit.SECONDS)).isEqualTo("served");
            assertThat(closed.getCount()).isEqualTo(1);
        } finally {
            found.countDown();
        }
        assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
        shared.close();
    }

    private record ClosedListener(CountDownLatch closed) implements BrokerConnection.Listener {
        @Override
        public void onReady(BrokerConnection connection) {}

        @Override
        public JournalQException onClosing(BrokerConnection connection, JournalQException cause) {
            return cause;
        }

        @Override
        public void onClosed(BrokerConnection connection, JournalQException failure) {
            closed.countDown();
        }

        @Override
        public void onWritable(BrokerConnection connection) {}
    }

    private Cluster cluster(Cluster.Listener listener) {
        return new Cluster(config(), loops.next(), listener);
    }

    private static ClientConfig config() {
        ClientConfig.Backoff backoff = new ClientConfig.Backoff(5, 50);
        return new ClientConfig(
                Admin.class,
                List.of(new HostAndPort("localhost", 1)),
                null,
                null,
                "test",
                1_000,
                2_000,
                2_000,
                300_000,
                backoff,
                backoff);
    }
}
