package io.journalq.server.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * The heap that one kind of state uses. Any thread: every event loop charges here. Owners that ask for room at the same
 * moment may all get it, so the bound can be exceeded by one request for each event loop.
 */
public final class MemoryPart implements MemoryAccount {
    private final StatePart part;
    private final long maxBytes;
    private final AtomicLong usedBytes = new AtomicLong();
    private final LongAdder refusals = new LongAdder();
    private final Map<Integer, OwnerAccount> accounts = new ConcurrentHashMap<>();

    MemoryPart(StatePart part, long maxBytes) {
        this.part = part;
        this.maxBytes = maxBytes;
    }

    public StatePart part() {
        return part;
    }

    public long maxBytes() {
        return maxBytes;
    }

    /** Estimated size of the state. It may exceed the bound, see {@link MemoryAccount}. */
    public long usedBytes() {
        return usedBytes.get();
    }

    /** Number of refusals for lack of room. */
    public long refusals() {
        return refusals.sum();
    }

    @Override
    public boolean hasRoom(long moreBytes) {
        if (moreBytes <= 0 || moreBytes <= maxBytes - usedBytes.get()) {
            return true;
        }
        refusals.increment();
        return false;
    }

    @Override
    public void add(long bytes) {
        usedBytes.addAndGet(bytes);
    }

    /**
     * An account for an owner that is dropped and replaced as a whole, such as a coordinator. The new account releases
     * the charges of the previous owner.
     *
     * @param owner number of the owner, such as its partition
     */
    public MemoryAccount newAccount(int owner) {
        OwnerAccount account = new OwnerAccount();
        OwnerAccount before = accounts.put(owner, account);
        if (before != null) {
            before.close();
        }
        return account;
    }

    /** The charges of one owner. */
    private final class OwnerAccount implements MemoryAccount {
        private long chargedBytes;
        private boolean closed;

        @Override
        public boolean hasRoom(long moreBytes) {
            return MemoryPart.this.hasRoom(moreBytes);
        }

        @Override
        public synchronized void add(long bytes) {
            if (!closed) {
                chargedBytes += bytes;
                MemoryPart.this.add(bytes);
            }
        }

        synchronized void close() {
            closed = true;
            MemoryPart.this.add(-chargedBytes);
        }
    }
}
