package io.journalq.server.replication;

import java.nio.ByteBuffer;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * The bytes of a partition's producer state, so that a restart replays only what came after. A version, a count, each
 * producer with its batches oldest first, and a CRC-32C over all of it.
 */
public final class ProducerSnapshot {
    private static final short VERSION = 1;
    private static final int HEAD_SIZE_BYTES = Short.BYTES + Integer.BYTES;
    private static final int PRODUCER_SIZE_BYTES = Long.BYTES + Short.BYTES + Long.BYTES + Byte.BYTES;
    private static final int BATCH_SIZE_BYTES = 2 * Integer.BYTES + 2 * Long.BYTES;
    private static final int CRC_SIZE_BYTES = Integer.BYTES;

    private ProducerSnapshot() {}

    /** Writes the state of {@code dedup}; the result is ready to be read. */
    public static ByteBuffer encode(ProducerDedup dedup) {
        int batchCount = dedup.batchesById().values().stream()
                .mapToInt(ProducerBatches::count)
                .sum();
        ByteBuffer out = ByteBuffer.allocate(HEAD_SIZE_BYTES
                + dedup.producerCount() * PRODUCER_SIZE_BYTES
                + batchCount * BATCH_SIZE_BYTES
                + CRC_SIZE_BYTES);
        out.putShort(VERSION).putInt(dedup.producerCount());
        for (Map.Entry<Long, ProducerBatches> producer : dedup.batchesById().entrySet()) {
            ProducerBatches batches = producer.getValue();
            out.putLong(producer.getKey()).putShort(batches.epoch()).putLong(batches.lastUsedMs());
            out.put((byte) batches.count());
            for (int age = batches.count() - 1; age >= 0; age--) {
                int slot = batches.slot(age);
                out.putInt(batches.firstSequence(slot)).putInt(batches.lastSequence(slot));
                out.putLong(batches.baseOffset(slot)).putLong(batches.appendTimeMs(slot));
            }
        }
        out.putInt(crc(out));
        return out.flip();
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @return the state; null when the bytes are not a whole and unharmed snapshot of a known version
     */
    public static ProducerDedup decode(ByteBuffer bytes) {
        ByteBuffer in = bytes.duplicate();
        int end = in.limit() - CRC_SIZE_BYTES;
        if (end - in.position() < HEAD_SIZE_BYTES) {
            return null;
        }
        int storedCrc = in.getInt(end);
        ByteBuffer covered = in.slice(in.position(), end - in.position());
        covered.position(covered.limit());
        if (crc(covered) != storedCrc) {
            return null;
        }
        covered.position(0);
        return covered.getShort() == VERSION ? decodeProducers(covered) : null;
    }

    private static ProducerDedup decodeProducers(ByteBuffer in) {
        ProducerDedup dedup = new ProducerDedup();
        int producerCount = in.getInt();
        for (int i = 0; i < producerCount; i++) {
            if (in.remaining() < PRODUCER_SIZE_BYTES) {
                return null;
            }
            ProducerBatches batches = dedup.batchesFor(in.getLong());
            batches.restoreEpoch(in.getShort());
            batches.use(in.getLong());
            int batchCount = in.get();
            if (batchCount < 0
                    || batchCount > ProducerDedup.REMEMBERED_BATCHES
                    || in.remaining() < batchCount * BATCH_SIZE_BYTES) {
                return null;
            }
            for (int j = 0; j < batchCount; j++) {
                batches.add(batches.epoch(), in.getInt(), in.getInt(), in.getLong(), in.getLong());
            }
        }
        return in.hasRemaining() ? null : dedup;
    }

    /** CRC of everything before the buffer's position. */
    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().flip());
        return (int) crc.getValue();
    }
}
