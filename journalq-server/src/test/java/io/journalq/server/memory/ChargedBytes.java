package io.journalq.server.memory;

/** An account whose charges a test can read. One thread. */
public final class ChargedBytes implements MemoryAccount {
    /** Current charges. */
    public long bytes;

    /** Limit of the charges. */
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
