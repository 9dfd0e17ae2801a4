package io.journalq.server.shard.append;

import io.journalq.common.record.BatchValidator;
import io.journalq.common.record.DecompressionRoom;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.producerstate.VerificationGuards;
import io.journalq.server.shard.flush.DeferredWrites;
import io.netty.buffer.PooledByteBufAllocator;
import java.time.Clock;

/** Shared by the appends of one loop's partitions. On that loop. */
public final class AppendResources {
    private final LoopCycle cycle;
    private final Clock clock;
    private final OffLoopBatchValidator offLoopValidator;
    private final DecompressionRoom decompressionRoom = DecompressionRoom.ofSmall(PooledByteBufAllocator.DEFAULT);
    private final BatchValidator validator = new BatchValidator(decompressionRoom);
    private final InlineValidationBudget inlineBudget;
    private final DeferredWrites lateWrites;
    private final VerificationGuards guards = new VerificationGuards();

    /**
     * Creates the resources of a loop.
     *
     * @param offLoopValidator validates the batches that the loop does not validate itself; shared by all loops
     * @param maxUnwrittenBytes maximum size of the batches that are left in memory at the end of a cycle
     */
    public AppendResources(
            LoopCycle cycle, Clock clock, OffLoopBatchValidator offLoopValidator, long maxUnwrittenBytes) {
        this.cycle = cycle;
        this.clock = clock;
        this.offLoopValidator = offLoopValidator;
        this.inlineBudget = new InlineValidationBudget(cycle, offLoopValidator.maxInlineBytes());
        this.lateWrites = new DeferredWrites(cycle, maxUnwrittenBytes);
    }

    LoopCycle cycle() {
        return cycle;
    }

    /** The time of day. */
    public Clock clock() {
        return clock;
    }

    BatchValidator validator() {
        return validator;
    }

    InlineValidationBudget inlineBudget() {
        return inlineBudget;
    }

    OffLoopBatchValidator offLoopValidator() {
        return offLoopValidator;
    }

    DeferredWrites lateWrites() {
        return lateWrites;
    }

    /** Guards the verification of transactional batches. Any thread. */
    public VerificationGuards guards() {
        return guards;
    }

    /** Stops all appends. */
    public void close() {
        decompressionRoom.close();
    }
}
