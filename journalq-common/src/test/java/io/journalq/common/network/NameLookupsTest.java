package io.journalq.common.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.resolver.AddressResolver;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NameLookupsTest {
    private static final int TIMEOUT_MS = 20_000;
    private static final int PORT = 9092;

    private final DefaultEventExecutor executor = new DefaultEventExecutor();
    private final CountDownLatch responds = new CountDownLatch(1);
    private final AtomicInteger lookups = new AtomicInteger();

    private final AddressResolver<InetSocketAddress> names = new NameLookups(host -> {
                lookups.incrementAndGet();
                if (host.equals("slow")) {
                    awaitUninterruptibly(responds);
                }
                if (host.equals("unknown")) {
                    throw new UnknownHostException("unknown: there is no such name");
                }
                return InetAddress.getByAddress(host, new byte[] {10, 0, 0, 1});
            })
            .resolver(executor);

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Future<InetSocketAddress> resolve(String host) {
        return names.resolve(InetSocketAddress.createUnresolved(host, PORT));
    }

    @AfterEach
    void stop() {
        responds.countDown();
        var unused = executor.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);
    }

    @Test
    void shouldLookUpOtherNamesWhileOneTakesLong() throws Exception {
        // given
        Future<InetSocketAddress> slow = resolve("slow");

        // when
        Future<InetSocketAddress> fast = resolve("fast");

        // then
        assertThat(fast.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                .isEqualTo(new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}), PORT));
        assertThat(slow.isDone()).isFalse();
    }

    @Test
    void shouldLookUpANameOnceWhenManyNeedItAtTheSameTime() throws Exception {
        // given
        Future<InetSocketAddress> first = resolve("slow");
        Future<InetSocketAddress> second = resolve("slow");

        // when
        responds.countDown();

        // then
        assertThat(first.get(TIMEOUT_MS, TimeUnit.MILLISECONDS))
                .isEqualTo(second.get(TIMEOUT_MS, TimeUnit.MILLISECONDS));
        assertThat(lookups).hasValue(1);
    }

    @Test
    void shouldSayWhyANameIsNotFound() throws Exception {
        // when
        Future<InetSocketAddress> unknown = resolve("unknown");

        // then
        assertThat(unknown.await(TIMEOUT_MS)).isTrue();
        assertThat(unknown.cause())
                .isInstanceOf(UnknownHostException.class)
                .hasMessage("unknown: there is no such name");
    }
}
