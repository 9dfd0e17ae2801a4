package io.journalq.bench.driver;

import java.util.Map;

/** A client library under test. Opens producers and consumers; any thread. */
public interface ClientDriver {
    /** Such as {@code journalq} or {@code kafka-clients}. */
    String name();

    String version();

    SyncProducer openSyncProducer(ProducerSettings settings);

    BatchProducer openBatchProducer(ProducerSettings settings);

    /** A consumer of exactly the partitions named, each from the offset given. */
    MessageConsumer openConsumer(ConsumerSettings settings);

    /**
     * What the load fixes, and the library's own knobs.
     *
     * @param compression a codec's name, or {@code none}
     * @param extra settings by the library's own names, which win over what the driver sets
     */
    record ProducerSettings(String bootstrap, String topic, String compression, Map<String, String> extra) {}

    /**
     * What a consumer reads.
     *
     * @param startOffsets by partition
     * @param extra settings by the library's own names
     */
    record ConsumerSettings(
            String bootstrap, String topic, Map<Integer, Long> startOffsets, Map<String, String> extra) {}
}
