package io.journalq.common.protocol;

import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The file of a {@link RecordsData}. Used only while that is not released. */
public interface RecordsFile {
    /**
     * Fills {@code target}. Reads from memory, unless the operating system has dropped these bytes from its cache.
     *
     * @param index counts from the first byte of the records
     */
    void read(ByteBuffer target, int index) throws IOException;

    /** A part of the records, which may be used after them. The caller releases it. */
    FileRegion region(int index, int sizeBytes);
}
