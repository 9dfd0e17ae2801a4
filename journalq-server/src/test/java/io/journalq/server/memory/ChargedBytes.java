package io.journalq.server.memory;

/** An account that a test looks into. One thread. */
public final class ChargedBytes implements MemoryAccount {
    /** What is charged now. */
    public long bytes;

    /** What may be charged. */
    public long maxBytes = Long.MAX_VALUE;

    @Override
    public boolean hasRoom(long moreBytes) {
        return moreBytes <= 0 || moreBytes <= maxBytes - bytes;
    }

    @Override
    public void add(long more) {
        bytes += more;
    }
}
