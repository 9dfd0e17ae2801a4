package io.journalq.cli.message;

import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import java.util.ArrayList;
import java.util.List;

/**
 * Ships lines in batches of one partition: whatever came with one read of the input goes together, so that nothing waits
 * for input that may never come. For messages whose keys have no say in their partition. One thread.
 */
final class LineBatches {
    /** Size of values at which a batch goes; a larger line goes alone. */
    static final int BATCH_SIZE_BYTES = 64 * 1024;

    /** What a record takes besides its value, about; many short lines make a batch, too. */
    private static final int RECORD_OVERHEAD_BYTES = 16;

    private final Producer producer;
    private final String topic;
    private final int partition;
    private final Acknowledgements acknowledgements;
    private List<ProducerRecord> records = new ArrayList<>();
    private int sizeBytes;

    /**
     * Batches of a topic.
     *
     * @param partition {@link ProducerRecord#ANY_PARTITION} spreads them
     */
    LineBatches(Producer producer, String topic, int partition, Acknowledgements acknowledgements) {
        this.producer = producer;
        this.topic = topic;
        this.partition = partition;
        this.acknowledgements = acknowledgements;
    }

    /** Adds the record of a line of that size, and ships what is enough. */
    void add(ProducerRecord record, int lineBytes) {
        int addedBytes = lineBytes + RECORD_OVERHEAD_BYTES;
        if (sizeBytes + addedBytes > BATCH_SIZE_BYTES) {
            ship();
        }
        records.add(record);
        sizeBytes += addedBytes;
    }

    /** Ships what there is. */
    void ship() {
        if (!records.isEmpty()) {
            List<ProducerRecord> shipped = records;
            records = new ArrayList<>(shipped.size());
            sizeBytes = 0;
            acknowledgements.follow(producer.sendBatch(topic, partition, shipped), shipped.size());
        }
    }
}
