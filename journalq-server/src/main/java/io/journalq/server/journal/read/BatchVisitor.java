package io.journalq.server.journal.read;

import io.netty.buffer.ByteBuf;

/** Visits the batches of a journal in the order of their offsets. */
@FunctionalInterface
public interface BatchVisitor {
    /**
     * Visits one batch.
     *
     * @param header its header from index 0 on, for {@link io.journalq.common.record.RecordBatch}; for a control batch
     *     the complete batch. Valid during the call
     */
    void visit(ByteBuf header);
}
