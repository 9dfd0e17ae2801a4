package io.journalq.server.network;

/**
 * The direct memory that all loops share. Any thread.
 *
 * @param largeRequests for requests above {@link FrameReservation#LARGE_FRAME_BYTES}, from their first bytes to their
 *     responses
 * @param responses for responses that wait for their clients to read
 * @param fetched the part of it for records that were fetched for clients of the gateway, and are not encoded yet
 */
public record SharedMemory(MemoryShare largeRequests, MemoryShare responses, MemoryShare fetched) {
    /** Fetched records may use this part of the memory for responses. They can be fetched again. */
    private static final int FETCHED_PART = 32;

    /** Shares of these sizes. */
    public static SharedMemory of(long largeRequestBytes, long responseBytes) {
        return new SharedMemory(
                new MemoryShare(largeRequestBytes),
                new MemoryShare(responseBytes),
                new MemoryShare(responseBytes / FETCHED_PART));
    }

    /** The largest request that can be read with this much memory for large requests. */
    public static long largestRequestBytes(long largeRequestBytes) {
        return Math.max(FrameReservation.LARGE_FRAME_BYTES, largeRequestBytes - FrameReservation.FIRST_PART_BYTES)
                - Integer.BYTES;
    }

    /** Memory that large requests hold or have reserved. */
    public long largeRequestBytes() {
        return largeRequests.usedBytes();
    }

    /** Memory of responses that wait for their clients. */
    public long responseBytes() {
        return responses.usedBytes();
    }

    /** Counts memory of a response that is allocated already. */
    public void takeForResponse(long bytes) {
        responses.take(bytes);
    }

    /** Ends the effect of {@link #takeForResponse}. */
    public void giveBackFromResponse(long bytes) {
        responses.giveBack(bytes);
    }

    /** Whether the memory for responses is used up. */
    public boolean isFullOfResponses() {
        return responses.isFull();
    }

    /**
     * Reserves memory for records that are to be fetched for a client of the gateway. If it is used up, the reservation
     * waits behind earlier ones.
     *
     * @param granted is called once it is reserved, on the thread that gave memory back
     * @return whether it was reserved at once; {@code granted} is not called then
     */
    public boolean reserveForFetched(long bytes, Runnable granted) {
        boolean reserved = fetched.reserve(new MemoryShare.Reservation(bytes, () -> {
            responses.take(bytes);
            granted.run();
        }));
        if (reserved) {
            responses.take(bytes);
        }
        return reserved;
    }

    /** Counts memory of fetched records that was not reserved. */
    public void takeForFetched(long bytes) {
        responses.take(bytes);
        fetched.take(bytes);
    }

    /** Ends the effect of {@link #reserveForFetched} or {@link #takeForFetched}. */
    public void giveBackFromFetched(long bytes) {
        responses.giveBack(bytes);
        fetched.giveBack(bytes);
    }

    /**
     * Whether the memory for fetched records is used up. It is there for the gateway even if responses use all of theirs:
     * clients that do not read cannot stop those that do.
     */
    public boolean isFullOfFetched() {
        return fetched.isFull() || fetched.hasWaiting();
    }

    /** Whether half of the memory for fetched records is used up. */
    public boolean isHalfFullOfFetched() {
        return responses.isFull() || 2 * fetched.usedBytes() >= fetched.limitBytes();
    }

    boolean hasWaiting() {
        return largeRequests.hasWaiting() || responses.hasWaiting();
    }
}
