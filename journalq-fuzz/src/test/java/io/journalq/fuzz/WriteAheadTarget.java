package io.journalq.fuzz;

import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.WalReplay;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.journal.wal.WriteAheadScan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A write-ahead file that a start writes into a sound journal. First byte: whether checksums and sequence numbers are made
 * right; then the file.
 */
final class WriteAheadTarget implements FuzzTarget {
    private static final int RAW = 1;
    private static final Path DATA = Path.of("data");
    private static final String JOURNAL = JournalUse.DIRECTORY.getFileName().toString();
    private static final Path FILE = DATA.resolve("write-ahead").resolve("01.wal");
    private static final int MAGIC = 0x4A515741;
    /** The first version without cuts, and the one that a broker writes. */
    private static final List<Integer> VERSIONS = List.of(1, 2);

    private static final int FIRST_OFFSET = 1_000;
    private static final int RECORDS_PER_BATCH = 3;
    private static final int HEADER_SIZE_BYTES = 20;
    private static final int RECORD_HEADER_SIZE_BYTES = 38;
    private static final long MAX_ALLOCATED_BYTES = 12 << 20;
    private static final int MAX_ALLOCATED_PER_BYTE = 400;

    @Override
    public String name() {
        return "write-ahead";
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        for (String directory : List.of(JOURNAL, "other", "../escape", "")) {
            for (int flag = 0; flag <= RAW; flag++) {
                for (int version : VERSIONS) {
                    seeds.add(seed(flag, version, directory.getBytes(StandardCharsets.UTF_8)));
                }
            }
        }
        return seeds;
    }

    /** Two batches; in the newer version, a cut between them voids the first. */
    private static byte[] seed(int flag, int version, byte[] directory) {
        byte[] batch = SampleBatches.bytes(CompressionCodec.NONE, RECORDS_PER_BATCH, RecordBatch.NO_PRODUCER_ID, false);
        int headerSizeBytes = RECORD_HEADER_SIZE_BYTES + directory.length;
        ByteBuffer file = ByteBuffer.allocate(1 + HEADER_SIZE_BYTES + 3 * headerSizeBytes + 2 * batch.length);
        file.put((byte) flag).putInt(MAGIC).putInt(version).putInt(0).putLong(7);
        boolean cuts = version > VERSIONS.get(0);
        putRecord(file, directory, FIRST_OFFSET, 0, FIRST_OFFSET, batch);
        if (cuts) {
            putRecord(file, directory, 0, 0, FIRST_OFFSET, new byte[0]);
        }
        int before = cuts ? 0 : 1;
        putRecord(
                file, directory, FIRST_OFFSET, before * batch.length, FIRST_OFFSET + before * RECORDS_PER_BATCH, batch);
        byte[] bytes = Arrays.copyOf(file.array(), file.position());
        fixChecksums(ByteBuffer.wrap(bytes, 1, bytes.length - 1).slice());
        return bytes;
    }

    private static void putRecord(
            ByteBuffer file, byte[] directory, long segment, int position, long baseOffset, byte[] batch) {
        if (batch.length > 0) {
            ByteBuffer.wrap(batch).putLong(RecordBatch.BASE_OFFSET, baseOffset);
        }
        file.putInt(RECORD_HEADER_SIZE_BYTES + directory.length + batch.length)
                .putInt(0)
                .putLong(0);
        file.putLong(segment).putLong(batch.length > 0 ? baseOffset + RECORDS_PER_BATCH : baseOffset);
        file.putInt(position).putShort((short) directory.length).put(directory).put(batch);
    }

    /** Makes right whatever says that a file is not what was written. */
    private static void fixChecksums(ByteBuffer file) {
        if (file.capacity() < HEADER_SIZE_BYTES) {
            return;
        }
        CRC32C crc = new CRC32C();
        crc.update(file.slice(0, 8));
        crc.update(file.slice(12, 8));
        file.putInt(8, (int) crc.getValue());
        long sequence = file.getLong(12);
        int at = HEADER_SIZE_BYTES;
        while (file.capacity() - at >= RECORD_HEADER_SIZE_BYTES) {
            int sizeBytes = file.getInt(at);
            if (sizeBytes < RECORD_HEADER_SIZE_BYTES || sizeBytes > file.capacity() - at) {
                return;
            }
            file.putLong(at + 8, sequence++);
            CRC32C ofRecord = new CRC32C();
            ofRecord.update(file.slice(at + 8, sizeBytes - 8));
            file.putInt(at + 4, (int) ofRecord.getValue());
            at += sizeBytes;
        }
    }

    @Override
    public void run(byte[] input) throws IOException {
        if (input.length == 0) {
            return;
        }
        ByteBuffer file = ByteBuffer.wrap(input.clone(), 1, input.length - 1).slice();
        if ((input[0] & RAW) == 0) {
            fixChecksums(file);
        }
        MemoryFileStore store = new MemoryFileStore();
        Path directory = DATA.resolve(JOURNAL);
        new JournalUse(store, directory).write();
        try (LogFile log = store.open(FILE, true)) {
            log.write(file.duplicate(), 0);
        }
        try {
            WriteAheadScan.count(store, DATA);
            WalReplay.run(store, DATA);
            new JournalUse(store, directory).use();
        } catch (IOException expected) {
            return;
        }
        if (!List.of(JOURNAL, "write-ahead").containsAll(store.list(DATA))) {
            throw new AssertionError("something was made beside the journal: " + store.list(DATA));
        }
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
