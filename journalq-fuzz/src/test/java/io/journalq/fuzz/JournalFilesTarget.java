package io.journalq.fuzz;

import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.MemoryFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * The files of a journal, changed while nobody looked: checkpoint, indexes, snapshots, indexes of transactions, logs. An
 * input is a list of changes: which file, what to do with it, where, and bytes. Checksums are made right where it says so.
 */
final class JournalFilesTarget implements FuzzTarget {
    private static final int FIX_CHECKSUMS = 0x80;
    private static final int MAX_CHANGES = 8;
    private static final long MAX_ALLOCATED_BYTES = 8 << 20;
    private static final int MAX_ALLOCATED_PER_BYTE = 400;

    /** Where each kind of file keeps its checksum of everything else. */
    private static final Map<String, Integer> CRC_AT =
            new TreeMap<>(Map.of(".checkpoint", 8, ".snapshot", 16, ".index", 24, ".txnindex", 20));

    private final Map<String, byte[]> files = sound();

    @Override
    public String name() {
        return "journal-files";
    }

    private static Map<String, byte[]> sound() {
        MemoryFileStore store = new MemoryFileStore();
        Map<String, byte[]> files = new TreeMap<>();
        try {
            new JournalUse(store).write();
            for (String name : store.list(JournalUse.DIRECTORY)) {
                files.put(name, store.read(JournalUse.DIRECTORY.resolve(name), Integer.MAX_VALUE));
            }
        } catch (IOException defect) {
            throw new UncheckedIOException(defect);
        }
        return files;
    }

    @Override
    public List<byte[]> seeds() {
        List<byte[]> seeds = new ArrayList<>();
        int file = 0;
        for (byte[] content : files.values()) {
            seeds.add(change(file, 0, 0, content));
            seeds.add(change(file, FIX_CHECKSUMS, 0, content));
            seeds.add(change(file, FIX_CHECKSUMS | 1, 4, new byte[] {0, 0, 0, 9}));
            seeds.add(change(file, 2, content.length / 2, new byte[0]));
            seeds.add(change(file, 3, 0, new byte[0]));
            file++;
        }
        return seeds;
    }

    private static byte[] change(int file, int how, int at, byte[] bytes) {
        byte[] part = Parts.of(bytes);
        return ByteBuffer.allocate(2 + Short.BYTES + part.length)
                .put((byte) file)
                .put((byte) how)
                .putShort((short) at)
                .put(part)
                .array();
    }

    @Override
    public void run(byte[] input) throws IOException {
        Map<String, byte[]> changed = new TreeMap<>(files);
        List<String> names = new ArrayList<>(files.keySet());
        Parts parts = new Parts(input);
        for (int i = 0; i < MAX_CHANGES; i++) {
            String name = names.get(parts.nextByte() % names.size());
            int how = parts.nextByte();
            int at = parts.nextByte() << Byte.SIZE | parts.nextByte();
            byte[] bytes = parts.next();
            if (bytes == null) {
                break;
            }
            byte[] content = apply(changed.get(name), how & ~FIX_CHECKSUMS, at, bytes);
            if (content == null) {
                changed.remove(name);
            } else {
                changed.put(name, (how & FIX_CHECKSUMS) == 0 ? content : withFixedChecksums(name, content));
            }
        }
        MemoryFileStore store = new MemoryFileStore();
        for (Map.Entry<String, byte[]> file : changed.entrySet()) {
            Path path = JournalUse.DIRECTORY.resolve(file.getKey());
            try (LogFile log = store.open(path, true)) {
                log.write(ByteBuffer.wrap(file.getValue()), 0);
            }
        }
        try {
            new JournalUse(store).use();
        } catch (IOException expected) {
            return;
        }
    }

    /** Null for a file that is gone. */
    private static byte[] apply(byte[] content, int how, int position, byte[] bytes) {
        byte[] before = content == null ? new byte[0] : content;
        int at = Math.min(position, before.length);
        return switch (how % 4) {
            case 0 -> bytes;
            case 1 -> {
                byte[] over = Arrays.copyOf(before, Math.max(before.length, at + bytes.length));
                System.arraycopy(bytes, 0, over, at, bytes.length);
                yield over;
            }
            case 2 -> {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                out.write(before, 0, at);
                out.writeBytes(bytes);
                yield out.toByteArray();
            }
            default -> null;
        };
    }

    private static byte[] withFixedChecksums(String name, byte[] content) {
        Integer at = CRC_AT.get(name.substring(name.lastIndexOf('.')));
        if (at == null) {
            ByteBuf log = Unpooled.wrappedBuffer(content);
            SampleBatches.fixChecksums(log);
        } else if (content.length >= at + Integer.BYTES) {
            CRC32C crc = new CRC32C();
            crc.update(content, 0, at);
            crc.update(content, at + Integer.BYTES, content.length - at - Integer.BYTES);
            ByteBuffer.wrap(content).putInt(at, (int) crc.getValue());
        }
        return content;
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return MAX_ALLOCATED_BYTES + (long) MAX_ALLOCATED_PER_BYTE * inputSizeBytes;
    }
}
