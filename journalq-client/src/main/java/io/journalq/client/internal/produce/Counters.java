package io.journalq.client.internal.produce;

import java.util.concurrent.atomic.LongAdder;

/** The counters of a producer, as {@link io.journalq.client.ProducerMetrics} documents them. Thread-safe. */
public final class Counters {
    public final LongAdder records = new LongAdder();
    public final LongAdder batches = new LongAdder();
    public final LongAdder requests = new LongAdder();
    public final LongAdder sentBytes = new LongAdder();
    public final LongAdder failedRecords = new LongAdder();
    public final LongAdder retriedBatches = new LongAdder();
    public final LongAdder directSends = new LongAdder();
}
