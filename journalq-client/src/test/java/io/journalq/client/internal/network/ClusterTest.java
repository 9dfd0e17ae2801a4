package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Admin;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
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

    private Cluster cluster(Cluster.Listener listener) {
        ClientConfig.Backoff backoff = new ClientConfig.Backoff(5, 50);
        return new Cluster(
                new ClientConfig(
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
                        backoff),
                loops.next(),
                listener);
    }
}
