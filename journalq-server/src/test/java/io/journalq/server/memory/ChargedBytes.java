package io.journalq.server.memory;

/** An account whose charges a test can read. One thread. */
public final class ChargedBytes implements MemoryAccount {
    /** Current charges. */
    public long bytes;

    /** Limit of the charges. */
    public long maxBytes = Long.MAX_VALUE;

    /** The number of additions after which the heap is full. */
    public int additionsLeft = Integer.MAX_VALUE;

    @Override
    public boolean hasRoom(long moreBytes) {
        return moreBytes <= 0 || moreBytes <= maxBytes - bytes;
    }

    @Override
    public void add(long more) {
        if (more > 0 && additionsLeft-- == 0) {
            throw new OutOfMemoryError("the heap of a test is full");
        }
        bytes += more;
    }
}
