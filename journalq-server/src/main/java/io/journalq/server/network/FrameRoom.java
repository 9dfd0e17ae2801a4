package io.journalq.server.network;

/**
 * Room that the connections of one loop hold for bytes of unfinished frames that have not arrived: so that a large frame
 * needs to be moved at most once, but clients that announce much and send nothing cannot take more than this. For the
 * loop's thread only.
 */
final class FrameRoom {
    static final int LIMIT_BYTES = 16 * 1024 * 1024;

    private int usedBytes;

    /** Takes room, if there is so much. */
    boolean reserve(int sizeBytes) {
        if (sizeBytes > LIMIT_BYTES - usedBytes) {
            return false;
        }
        usedBytes += sizeBytes;
        return true;
    }

    void giveBack(int sizeBytes) {
        usedBytes -= sizeBytes;
    }
}
