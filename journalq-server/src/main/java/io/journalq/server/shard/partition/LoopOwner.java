package io.journalq.server.shard.partition;

import io.journalq.server.journal.compaction.CompactionJob;
import io.journalq.server.loop.FutureWaiter;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;

/**
 * Runs the steps of a thread that rewrites a journal on the loop that owns the journal. The thread waits for the loop;
 * the loop never waits for it.
 *
 * @param cycle the partition's loop
 * @param waiting how the thread waits for it
 * @param closed whether the partition has left its loop; called on the loop
 */
record LoopOwner(LoopCycle cycle, FutureWaiter waiting, BooleanSupplier closed) implements CompactionJob.Owner {
    @Override
    public boolean run(CompactionJob.Step step) throws IOException {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        boolean accepted = cycle.execute(() -> {
            try {
                done.complete(!closed.getAsBoolean() && step.run());
            } catch (IOException | RuntimeException | Error failure) {
                done.completeExceptionally(failure);
            }
        });
        if (!accepted) {
            return false;
        }
        try {
            return waiting.join(done);
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof IOException io) {
                throw io;
            }
            throw failure;
        }
    }
}
