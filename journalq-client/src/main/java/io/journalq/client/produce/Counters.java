package io.journalq.client.produce;

import io.journalq.client.ProducerMetrics;
import java.util.concurrent.atomic.LongAdder;

/** What a producer counts. Thread-safe. */
final class Counters {
    final LongAdder records = new LongAdder();
    final LongAdder batches = new LongAdder();
    final LongAdder requests = new LongAdder();
    final LongAdder sentBytes = new LongAdder();
    final LongAdder failedRecords = new LongAdder();
    final LongAdder retriedBatches = new LongAdder();
    final LongAdder directSends = new LongAdder();

    ProducerMetrics snapshot(long bufferedBytes) {
        return new ProducerMetrics(
                records.sum(),
                batches.sum(),
                requests.sum(),
                sentBytes.sum(),
                failedRecords.sum(),
                retriedBatches.sum(),
                directSends.sum(),
                bufferedBytes);
    }
}
