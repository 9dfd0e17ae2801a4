package io.journalq.server.shard.coordinator.transaction;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Assigns producer ids one by one from blocks that the controller allocates, so that only a few of them cause a write
 * to the metadata log. Unused ids of a block are lost when the broker stops; no id is assigned twice. Any thread.
 */
public final class ProducerIds {
    private final Supplier<CompletableFuture<Block>> allocator;
    private final ArrayDeque<CompletableFuture<Long>> waiting = new ArrayDeque<>();
    private Block block = new Block(0, 0);
    private boolean allocating;

    /**
     * A range of ids.
     *
     * @param firstId the first id
     * @param count number of ids
     */
    public record Block(long firstId, int count) {}

    /**
     * Creates an instance without ids.
     *
     * @param allocator requests a unique block from the controller
     */
    public ProducerIds(Supplier<CompletableFuture<Block>> allocator) {
        this.allocator = allocator;
    }

    /** A unique id; fails if the controller cannot allocate one. */
    public CompletableFuture<Long> next() {
        CompletableFuture<Long> id = new CompletableFuture<>();
        synchronized (this) {
            if (block.count() > 0) {
                id.complete(take());
                return id;
            }
            waiting.add(id);
            if (allocating) {
                return id;
            }
            allocating = true;
        }
        allocate();
        return id;
    }

    private void allocate() {
        var unused = allocator.get().whenComplete((allocated, failure) -> {
            boolean more;
            synchronized (this) {
                if (failure == null) {
                    block = allocated;
                    while (block.count() > 0 && !waiting.isEmpty()) {
                        waiting.poll().complete(take());
                    }
                } else {
                    waiting.forEach(id -> id.completeExceptionally(failure));
                    waiting.clear();
                }
                more = !waiting.isEmpty();
                allocating = more;
            }
            if (more) {
                allocate();
            }
        });
    }

    private long take() {
        long id = block.firstId();
        block = new Block(id + 1, block.count() - 1);
        return id;
    }
}
