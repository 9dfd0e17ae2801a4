package io.journalq.sim.workload;

import io.journalq.common.record.BatchBuilder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;

/** Makes batches of records. */
final class Batches {
    private Batches() {}

    /** On the heap, so that what a crash leaves lying around is collected. */
    static ByteBuf build(BatchBuilder builder, PartitionHistory partition, List<Sent> records) {
        for (Sent record : records) {
            Sent.Content content = record.content();
            builder.append(content.timestampMs(), content.keyBytes(), record.value(), record.headers());
        }
        ByteBuf built = builder.build();
        ByteBuf copy = Unpooled.buffer(built.readableBytes()).writeBytes(built);
        built.release();
        partition.onBatch(records.get(0), copy.readableBytes());
        return copy;
    }
}
