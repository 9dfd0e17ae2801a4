package io.journalq.common.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.resolver.AddressResolver;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NameLookupsTest {
    private static final int TIMEOUT_MS = 20_000;
    private static final int PORT = 9092;

    private final DefaultEventExecutor executor = new DefaultEventExecutor();
    private final CountDownLatch responds = new CountDownLatch(1);
    private final AtomicInteger lookups = new AtomicInteger();

    private final NameLookups lookup = new NameLookups(host -> {
        lookups.incrementAndGet();
        if (host.equals("slow")) {
            awaitUninterruptibly(responds);
        }
        if (host.equals("unknown")) {
            throw new UnknownHostException("unknown: there is no such name");
        }
        return InetAddress.getByAddress(host, new byte[] {10, 0, 0, 1});
    });
    private final AddressResolver<InetSocketAddress> names = lookup.resolver(executor);

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
    void shouldLogNothingWhenTheLoopHasEndedBeforeANameIsFound() throws Exception {
        // given a name that connections of two loops wait for; those that came last are told first
        List<LogRecord> logged = new CopyOnWriteArrayList<>();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                logged.add(record);
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger netty = Logger.getLogger("io.netty");
        netty.addHandler(handler);
        try {
            DefaultEventExecutor other = new DefaultEventExecutor();
            Future<InetSocketAddress> after =
                    lookup.resolver(other).resolve(InetSocketAddress.createUnresolved("slow", PORT));
            Future<InetSocketAddress> slow = resolve("slow").addListener(found -> {});

            // when
            assertThat(executor.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS).await(TIMEOUT_MS))
                    .isTrue();
            responds.countDown();

            // then
            assertThat(after.await(TIMEOUT_MS)).isTrue();
            var unused = other.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);
            assertThat(slow.cause()).isNull();
            assertThat(logged).isEmpty();
        } finally {
            netty.removeHandler(handler);
        }
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
