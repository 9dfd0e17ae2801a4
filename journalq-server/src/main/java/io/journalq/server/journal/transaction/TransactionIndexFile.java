package io.journalq.server.journal.transaction;

import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.NewerFormatException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/** The content of one file of aborted transactions: magic number, version, base offset, count, CRC, entries. Stateless. */
public final class TransactionIndexFile {
    public static final String SUFFIX = ".txnindex";

    /** More than the largest segment has room for markers. */
    public static final int MAX_SIZE_BYTES = 512 << 20;

    private static final int MAGIC = 0x4A515458;
    private static final int VERSION = 1;
    private static final int HEADER_SIZE_BYTES = 24;
    private static final int ENTRY_SIZE_BYTES = 32;

    private TransactionIndexFile() {}

    static ByteBuffer encode(long baseOffset, List<AbortedTransaction> entries) {
        ByteBuffer out = ByteBuffer.allocate(HEADER_SIZE_BYTES + entries.size() * ENTRY_SIZE_BYTES);
        out.putInt(MAGIC).putInt(VERSION).putLong(baseOffset).putInt(entries.size());
        int crcAt = out.position();
        out.putInt(0);
        for (AbortedTransaction entry : entries) {
            out.putLong(entry.producerId()).putLong(entry.firstOffset());
            out.putLong(entry.markerOffset()).putLong(entry.lastStableOffset());
        }
        out.putInt(crcAt, crc(out.array(), crcAt));
        return out.flip();
    }

    /**
     * Reads a file's content.
     *
     * @throws CorruptJournalException when {@code content} is not what {@link #encode} wrote
     * @throws NewerFormatException when a newer release wrote it
     */
    public static List<AbortedTransaction> decode(Path file, byte[] content, long baseOffset) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        try {
            if (in.getInt() != MAGIC) {
                throw new CorruptJournalException(file, 0, "not an index of transactions");
            }
            int version = in.getInt();
            long base = in.getLong();
            int count = in.getInt();
            int crcAt = in.position();
            boolean healthy = in.getInt() == crc(content, crcAt);
            if (healthy && version != VERSION) {
                throw new NewerFormatException(file, "an index of transactions", version, VERSION);
            }
            if (!healthy || in.remaining() != (long) count * ENTRY_SIZE_BYTES) {
                throw new CorruptJournalException(file, crcAt, "index of transactions with a wrong CRC");
            }
            if (base != baseOffset) {
                throw new CorruptJournalException(file, 8, "index of another segment's transactions");
            }
            List<AbortedTransaction> entries = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                entries.add(new AbortedTransaction(in.getLong(), in.getLong(), in.getLong(), in.getLong()));
            }
            return entries;
        } catch (BufferUnderflowException tooShort) {
            throw new CorruptJournalException(file, content.length, "index of transactions cut short");
        }
    }

    /** Of everything but the CRC itself. */
    private static int crc(byte[] content, int crcAt) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, crcAt);
        crc.update(content, crcAt + Integer.BYTES, content.length - crcAt - Integer.BYTES);
        return (int) crc.getValue();
    }
}
