package io.journalq.cli.message;

import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends lines in batches for one partition. All lines from one read of the input are sent together, so that no line
 * waits for input that may never arrive. For messages whose keys do not determine their partition. One thread.
 */
final class LineBatches {
    /** The size of values at which a batch is sent. A larger line is sent alone. */
    static final int BATCH_SIZE_BYTES = 64 * 1024;

    /** The approximate size of a record in addition to its value, so that many short lines also fill a batch. */
    private static final int RECORD_OVERHEAD_BYTES = 16;

    private final Producer producer;
    private final String topic;
    private final int partition;
    private final Acknowledgements acknowledgements;
    private List<ProducerRecord> records = new ArrayList<>();
    private int sizeBytes;

    /**
     * Creates batches for a topic.
     *
     * @param partition the partition, or {@link ProducerRecord#ANY_PARTITION} to distribute the batches
     */
    LineBatches(Producer producer, String topic, int partition, Acknowledgements acknowledgements) {
        this.producer = producer;
        this.topic = topic;
        this.partition = partition;
        this.acknowledgements = acknowledgements;
    }

    /** Adds the record of a line, and sends the batch if it is full. */
    void add(ProducerRecord record, int lineBytes) {
        int addedBytes = lineBytes + RECORD_OVERHEAD_BYTES;
        if (sizeBytes + addedBytes > BATCH_SIZE_BYTES) {
            ship();
        }
        records.add(record);
        sizeBytes += addedBytes;
    }

    /** Sends the current batch. */
    void ship() {
        if (!records.isEmpty()) {
            List<ProducerRecord> shipped = records;
            records = new ArrayList<>(shipped.size());
            sizeBytes = 0;
            acknowledgements.follow(producer.sendBatch(topic, partition, shipped), shipped.size());
        }
    }
}
