package io.journalq.server.journal.wal;

import io.journalq.server.journal.file.NewerFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The format of a write-ahead file, version 2. All numbers are big-endian.
 *
 * <pre>
 * file:    magic int | version int | CRC32C int, of the rest of the header
 *          | sequence of the first record long | records
 * record:  size int, of the whole record | CRC32C int, of the fields behind it | sequence long
 *          | segment's base offset long | end offset long | position int
 *          | length of the directory's name short | its name, UTF-8 | batches
 * </pre>
 *
 * A record without batches is a cut: the journal is truncated to the record's end offset, or further if a batch spans
 * it, or it is deleted, and all of its records before the cut are void. The segment and the position of a cut are 0.
 * Version 1 had no cuts.
 *
 * <p>The records end before the first one that is incomplete or out of sequence: records left by an earlier use of the
 * file have lower numbers.
 */
final class WriteAheadFormat {
    static final int MAGIC = 0x4A515741;
    static final int VERSION = 2;
    private static final int FIRST_VERSION = 1;
    private static final int VERSION_AT = 4;
    static final int FILE_HEADER_SIZE_BYTES = 20;
    static final int RECORD_HEADER_SIZE_BYTES = 38;

    private static final int FILE_CRC_AT = 8;
    private static final int CRC_AT = 4;
    private static final int CRC_FROM = 8;

    private WriteAheadFormat() {}

    static ByteBuffer fileHeader(long firstSequence) {
        ByteBuffer header = ByteBuffer.allocate(FILE_HEADER_SIZE_BYTES);
        header.putInt(MAGIC).putInt(VERSION).putInt(0).putLong(firstSequence).flip();
        return header.putInt(FILE_CRC_AT, fileCrc(header));
    }

    /**
     * Reads a file's header.
     *
     * @return the sequence of the first record; -1 if the file has never been used
     * @throws NewerFormatException if a newer release wrote it
     */
    static long firstSequence(Path file, ByteBuffer header) throws IOException {
        if (header.remaining() < FILE_HEADER_SIZE_BYTES
                || header.getInt(0) != MAGIC
                || header.getInt(FILE_CRC_AT) != fileCrc(header)) {
            return -1;
        }
        int version = header.getInt(VERSION_AT);
        if (version < FIRST_VERSION || version > VERSION) {
            throw new NewerFormatException(file, "a write-ahead file", version, VERSION);
        }
        return header.getLong(12);
    }

    /** Whether a file with this valid header can have cuts. */
    static boolean hasCuts(ByteBuffer header) {
        return header.getInt(VERSION_AT) > FIRST_VERSION;
    }

    /** Whether a header was never written: new files consist of zeros. */
    static boolean isBlank(ByteBuffer header) {
        return header.equals(ByteBuffer.allocate(header.remaining()));
    }

    private static int fileCrc(ByteBuffer header) {
        CRC32C crc = new CRC32C();
        crc.update(header.duplicate().position(0).limit(FILE_CRC_AT));
        crc.update(header.duplicate().position(FILE_CRC_AT + Integer.BYTES).limit(FILE_HEADER_SIZE_BYTES));
        return (int) crc.getValue();
    }

    static int sizeBytes(byte[] directory, int dataSizeBytes) {
        return RECORD_HEADER_SIZE_BYTES + directory.length + dataSizeBytes;
    }

    /** Starts a record; its data follow, then {@link #seal}. */
    static void putHeader(
            ByteBuffer out, int sizeBytes, byte[] directory, long segmentBaseOffset, int position, long endOffset) {
        out.putInt(sizeBytes).putInt(0).putLong(0);
        out.putLong(segmentBaseOffset).putLong(endOffset).putInt(position);
        out.putShort((short) directory.length).put(directory);
    }

    /** Completes the record at {@code at} with its sequence number and CRC. */
    static void seal(ByteBuffer records, int at, long sequence) {
        records.putLong(at + CRC_FROM, sequence);
        records.putInt(at + CRC_AT, crc(records, at, records.getInt(at)));
    }

    /** The record at {@code at}; null if it needs more than the {@code sizeBytes} bytes that are there. */
    static WriteAheadRecord read(ByteBuffer records, int at, int sizeBytes) {
        if (records.getInt(at + CRC_AT) != crc(records, at, sizeBytes)) {
            return null;
        }
        int nameBytes = Short.toUnsignedInt(records.getShort(at + 36));
        int position = records.getInt(at + 32);
        long segmentBaseOffset = records.getLong(at + 16);
        if (RECORD_HEADER_SIZE_BYTES + nameBytes > sizeBytes || position < 0 || segmentBaseOffset < 0) {
            return null;
        }
        byte[] name = new byte[nameBytes];
        records.duplicate().position(at + RECORD_HEADER_SIZE_BYTES).get(name);
        ByteBuffer data = records.duplicate()
                .position(at + RECORD_HEADER_SIZE_BYTES + nameBytes)
                .limit(at + sizeBytes)
                .slice();
        return new WriteAheadRecord(
                records.getLong(at + CRC_FROM),
                new String(name, StandardCharsets.UTF_8),
                segmentBaseOffset,
                position,
                records.getLong(at + 24),
                data);
    }

    private static int crc(ByteBuffer records, int at, int sizeBytes) {
        CRC32C crc = new CRC32C();
        crc.update(records.duplicate().limit(at + sizeBytes).position(at + CRC_FROM));
        return (int) crc.getValue();
    }
}
