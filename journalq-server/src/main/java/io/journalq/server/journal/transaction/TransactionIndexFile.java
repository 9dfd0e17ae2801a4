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

/** The format of a file of aborted transactions: magic number, version, base offset, count, CRC, entries. Stateless. */
public final class TransactionIndexFile {
    public static final String SUFFIX = ".txnindex";

    /** Larger than the markers of the largest segment need. */
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
     * @throws CorruptJournalException if {@code content} is not in the format of {@link #encode}
     * @throws NewerFormatException if a newer release wrote it
     */
    public static List<AbortedTransaction> decode(Path file, byte[] content, long baseOffset) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(content);
        try {
            if (in.getInt() != MAGIC) {
                throw new CorruptJournalException(file, 0, "not a transaction index");
            }
            int version = in.getInt();
            long base = in.getLong();
            int count = in.getInt();
            int crcAt = in.position();
            boolean healthy = in.getInt() == crc(content, crcAt);
            if (healthy && version != VERSION) {
                throw new NewerFormatException(file, "a transaction index", version, VERSION);
            }
            if (!healthy || in.remaining() != (long) count * ENTRY_SIZE_BYTES) {
                throw new CorruptJournalException(file, crcAt, "transaction index has a wrong CRC");
            }
            if (base != baseOffset) {
                throw new CorruptJournalException(file, 8, "transaction index of a different segment");
            }
            List<AbortedTransaction> entries = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                entries.add(new AbortedTransaction(in.getLong(), in.getLong(), in.getLong(), in.getLong()));
            }
            return entries;
        } catch (BufferUnderflowException tooShort) {
            throw new CorruptJournalException(file, content.length, "transaction index is truncated");
        }
    }

    /** CRC of everything except the CRC itself. */
    private static int crc(byte[] content, int crcAt) {
        CRC32C crc = new CRC32C();
        crc.update(content, 0, crcAt);
        crc.update(content, crcAt + Integer.BYTES, content.length - crcAt - Integer.BYTES);
        return (int) crc.getValue();
    }
}
