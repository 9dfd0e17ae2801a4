package io.journalq.server.journal.read;

import io.netty.buffer.ByteBuf;

/** Sees the batches of a journal one after the other, in the order of their offsets. */
@FunctionalInterface
public interface BatchVisitor {
    /**
     * One batch.
     *
     * @param header its header from index 0 on, for {@link io.journalq.common.record.RecordBatch}; of a control batch all
     *     of it. Valid during the call
     */
    void visit(ByteBuf header);
}
