package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.PRICES;
import static io.journalq.seal.SealedWorld.ROLE;
import static io.journalq.seal.SealedWorld.SENDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long a producer sends by what the registry once said. */
@Timeout(30)
class RightsAgeTest {
    private static final Duration MAX_AGE = Duration.ofMillis(800);

    private SealedWorld world;

    @BeforeEach
    void begin() throws Exception {
        world = new SealedWorld();
    }

    @AfterEach
    void end() {
        world.close();
    }

    private BatchSealer sealer(KeyLog keys) {
        return world.policy(world.senderVault)
                .sender(SENDER)
                .registryMaxAge(MAX_AGE)
                .build()
                .sealer(keys);
    }

    private KeyPacket newestPacket() {
        List<KeyLog.Entry> packets = world.keys.entries(KeyPacket.TOPIC);
        return KeyPacket.decode(packets.get(packets.size() - 1).value());
    }

    @Test
    void shouldNoticeAChangeInTimeWhenTheRegistryWasReadForAnotherTopicBefore() throws Exception {
        // given an epoch by a registry that was read for another topic some time ago, and has changed since
        BatchSealer sealer = sealer(world.keys);
        sealer.prepare(ORDERS.topic());
        byte[] second = world.readerVault.makeRole(ROLE, 2).publicKey();
        world.admin.change(registry -> registry.withRole(ROLE, 2, second));
        TimeUnit.MILLISECONDS.sleep(MAX_AGE.toMillis() / 2);
        sealer.prepare(PRICES.topic());

        // when
        TimeUnit.MILLISECONDS.sleep(MAX_AGE.toMillis() / 2 + 50);
        sealer.prepare(PRICES.topic());

        // then
        KeyPacket packet = newestPacket();
        assertThat(packet.topic()).isEqualTo(PRICES.topic());
        assertThat(packet.recipients().get(0).generation()).isEqualTo(2);
        sealer.close();
    }

    @Test
    void shouldSendNothingWhenAnotherThreadCannotReadTheRegistry() throws Exception {
        // given
        SlowRegistry slow = new SlowRegistry(world.keys);
        BatchSealer sealer = sealer(slow);
        sealer.prepare(ORDERS.topic());
        TimeUnit.MILLISECONDS.sleep(MAX_AGE.toMillis() + 50);
        slow.blocked = true;
        CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> sealer.prepare(ORDERS.topic()));
        assertThat(slow.entered.await(10, TimeUnit.SECONDS)).isTrue();

        // when
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
            begun.countDown();
            sealer.prepare(ORDERS.topic());
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

        // then
        assertThatThrownBy(() -> sending.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        slow.released.countDown();
        CompletableFuture.allOf(reading, sending).get(10, TimeUnit.SECONDS);
        sealer.close();
    }

    @Test
    void shouldFailWithoutAnotherReadWhenTheOneThatItHasWaitedForFails() throws Exception {
        // given
        SlowRegistry slow = new SlowRegistry(world.keys);
        BatchSealer sealer = sealer(slow);
        sealer.prepare(ORDERS.topic());
        TimeUnit.MILLISECONDS.sleep(MAX_AGE.toMillis() + 50);
        slow.blocked = true;
        slow.failure = new SealingException("not now", null);
        CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> sealer.prepare(ORDERS.topic()));
        assertThat(slow.entered.await(10, TimeUnit.SECONDS)).isTrue();
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
            begun.countDown();
            sealer.prepare(ORDERS.topic());
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> sending.get(300, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);

        // when
        slow.released.countDown();

        // then
        assertThatThrownBy(() -> reading.get(10, TimeUnit.SECONDS)).hasRootCauseMessage("not now");
        assertThatThrownBy(() -> sending.get(10, TimeUnit.SECONDS))
                .hasCauseInstanceOf(SealingException.class)
                .hasRootCauseMessage("not now");
        assertThat(slow.reads).hasValue(2);
        // and the next call tries again
        slow.failure = null;
        sealer.prepare(ORDERS.topic());
        assertThat(slow.reads).hasValue(3);
        sealer.close();
    }

    /** Topics of keys whose registry can take any time to read. */
    private static final class SlowRegistry implements KeyLog {
        private final KeyLog keys;
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
        private final AtomicInteger reads = new AtomicInteger();
        private volatile boolean blocked;
        private volatile SealingException failure;

        private SlowRegistry(KeyLog keys) {
            this.keys = keys;
        }

        @Override
        public long append(String topic, byte[] key, byte[] value) {
            return keys.append(topic, key, value);
        }

        @Override
        public Entry read(String topic, long offset) {
            return keys.read(topic, offset);
        }

        @Override
        public void readAll(String topic, Consumer<Entry> each) {
            reads.incrementAndGet();
            if (blocked) {
                entered.countDown();
                try {
                    assertThat(released.await(20, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException stop) {
                    throw new AssertionError("interrupted while the registry is read", stop);
                }
            }
            if (failure != null) {
                throw failure;
            }
            keys.readAll(topic, each);
        }
    }
}
