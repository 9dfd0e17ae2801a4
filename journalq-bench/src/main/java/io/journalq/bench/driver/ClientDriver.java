package io.journalq.bench.driver;

import java.util.Map;

/** A client library under test. Opens producers and consumers; any thread. */
public interface ClientDriver {
    /** Such as {@code journalq} or {@code kafka-clients}. */
    String name();

    String version();

    SyncProducer openSyncProducer(ProducerSettings settings);

    BatchProducer openBatchProducer(ProducerSettings settings);

    /** A producer of single messages, each to a partition that the library chooses. */
    Publisher openPublisher(ProducerSettings settings);

    /** A consumer of exactly the partitions named, each from the offset given. */
    MessageConsumer openConsumer(ConsumerSettings settings);

    /** Lets a group that nobody is in go on at these offsets, by partition. */
    void commitStart(GroupSettings settings, Map<Integer, Long> offsets);

    /** A consumer that is a member of a group, by the consumer protocol (KIP-848), and commits automatically. */
    MessageConsumer openMember(GroupSettings settings);

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

    /**
     * Which group reads what.
     *
     * @param extra settings by the library's own names
     */
    record GroupSettings(String bootstrap, String topic, String group, Map<String, String> extra) {}
}
