package io.journalq.client.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Producer;
import io.journalq.client.internal.network.ClientConfig;
import io.journalq.client.internal.network.ClusterView;
import io.journalq.client.internal.network.HostAndPort;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.CompressionCodec;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PendingBatchTest {
    private static final int BATCHES = 300;
    private static final long DELIVERY_TIMEOUT_NANOS = 1_000_000_000L;

    private final TopicLanes topic = topic(config());

    @AfterEach
    void close() {
        topic.close();
    }

    @Test
    void shouldHaveGivenItsBuilderBackWhenItIsSeenBuilt() throws InterruptedException {
        // given a thread that, as the event loop does, takes a batch as soon as it is built
        AtomicReference<PendingBatch> current = new AtomicReference<>();
        AtomicBoolean heldOn = new AtomicBoolean();
        AtomicBoolean running = new AtomicBoolean(true);
        Thread loop = new Thread(() -> {
            while (running.get()) {
                PendingBatch batch = current.get();
                if (batch != null && batch.isBuilt()) {
                    if (batch.slot != null) {
                        heldOn.set(true);
                    }
                    batch.releaseBuffers();
                    current.set(null);
                }
            }
        });
        loop.start();

        // when batches are built
        try {
            for (int i = 0; i < BATCHES; i++) {
                PendingBatch batch =
                        new PendingBatch(topic.lane(0), topic.takeBuilder(true), 0, DELIVERY_TIMEOUT_NANOS);
                batch.slot.builder().append(i, null, new byte[] {1}, List.of());
                current.set(batch);
                batch.build();
                while (current.get() != null && loop.isAlive()) {
                    Thread.onSpinWait();
                }
            }
        } finally {
            running.set(false);
            loop.join();
        }

        // then none still held the builder, which two batches would else share after both gave it back
        assertThat(heldOn).isFalse();
        BuilderPool.Slot first = topic.takeBuilder(true);
        BuilderPool.Slot second = topic.takeBuilder(true);
        assertThat(first).isNotSameAs(second);
        first.release();
        second.release();
    }

    @Test
    void shouldFailWhenTheNativeLibraryOfACodecIsMissing() {
        // given
        PendingBatch batch = new PendingBatch(topic.lane(0), topic.takeBuilder(true), 0, DELIVERY_TIMEOUT_NANOS);
        batch.slot.builder().append(0, null, new byte[] {1}, List.of());
        BuilderPool.Slot used = batch.slot;
        batch.place = plain -> {
            plain.release();
            throw new UnsatisfiedLinkError("planted");
        };

        // when
        batch.build();

        // then the loop finds the error, instead of waiting for the batch
        assertThat(batch.isBuilt()).isTrue();
        assertThat(batch.buildError()).hasMessage("planted");
        BuilderPool.Slot next = topic.takeBuilder(true);
        assertThat(next).isSameAs(used);
        next.release();
    }

    static TopicLanes topic(ProducerConfig config) {
        return new TopicLanes(new ClusterView.Topic("orders", new Uuid(1, 1), new int[1], new int[1]), config);
    }

    static ProducerConfig config() {
        ClientConfig.Backoff backoff = new ClientConfig.Backoff(1, 1);
        ClientConfig client = new ClientConfig(
                Producer.class, HostAndPort.parseList("localhost:1"), null, null, "test", 1, 1, 1, 1, backoff, backoff);
        return new ProducerConfig(
                client, CompressionCodec.NONE, (short) 1, false, false, 1 << 16, 0, 1 << 20, 1 << 20, 1, null, null);
    }
}
