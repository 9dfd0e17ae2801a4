package io.journalq.bench.driver;

import java.util.Map;

/** A client library under test. Opens producers and consumers; any thread. */
public interface ClientDriver {
    /** Such as {@code journalq} or {@code kafka-clients}. */
    String name();

    String version();

    SyncProducer openSyncProducer(ProducerSettings settings);

    BatchProducer openBatchProducer(ProducerSettings settings);

    /** A consumer of exactly these partitions, each from the offset given. */
    MessageConsumer openConsumer(String bootstrap, String topic, Map<Integer, Long> startOffsets);

    /**
     * What the load fixes, and the library's own knobs.
     *
     * @param compression a codec's name, or {@code none}
     * @param extra settings by the library's own names, which win over what the driver sets
     */
    record ProducerSettings(String bootstrap, String topic, String compression, Map<String, String> extra) {}
}
