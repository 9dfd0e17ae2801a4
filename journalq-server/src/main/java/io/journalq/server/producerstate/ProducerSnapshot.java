package io.journalq.server.producerstate;

import io.journalq.server.producerstate.PartitionTransactions.UnfinishedTransaction;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * The serialized producer state of a partition, so that a restart replays only later batches. It contains a version, a
 * count, the offset before which a producer's newest batch may lack successors, each producer with its transaction and
 * its batches (oldest first), and a CRC-32C over all of it. Versions 1 (without transactions), 2 (without that offset)
 * and 3 (without the number of records that came without a gap) can be read too.
 */
public final class ProducerSnapshot {
    private static final short FIRST_VERSION = 1;
    private static final short VERSION_WITHOUT_LOSS = 2;
    private static final short VERSION_WITHOUT_UNBROKEN = 3;
    private static final short VERSION = 4;
    private static final int HEAD_SIZE_BYTES = Short.BYTES + Integer.BYTES;

    /** Id, epoch, time of last use, number of batches. */
    private static final int PRODUCER_SIZE_BYTES = Long.BYTES + Short.BYTES + Long.BYTES + Byte.BYTES;

    /** Flags, sequence when empty, coordinator's epoch, offset of the last marker. */
    private static final int TRANSACTION_SIZE_BYTES = Byte.BYTES + 2 * Integer.BYTES + Long.BYTES;

    /** First offset and start time of an open transaction. */
    private static final int OPEN_SIZE_BYTES = 2 * Long.BYTES;

    private static final int UNBROKEN_SIZE_BYTES = Integer.BYTES;
    private static final int BATCH_SIZE_BYTES = 2 * Integer.BYTES + 2 * Long.BYTES;
    private static final int CRC_SIZE_BYTES = Integer.BYTES;
    private static final int OPEN_FLAG = 1;
    private static final int COMMIT_FLAG = 2;

    private ProducerSnapshot() {}

    /** Encodes the state of {@code transactions} and of its producers; the result is ready to be read. */
    public static ByteBuffer encode(PartitionTransactions transactions) {
        Map<Long, ProducerState> states = transactions.producers().statesById();
        int batchCount = states.values().stream().mapToInt(ProducerState::count).sum();
        ByteBuffer out = ByteBuffer.allocate(HEAD_SIZE_BYTES
                + Long.BYTES
                + states.size() * (PRODUCER_SIZE_BYTES + TRANSACTION_SIZE_BYTES + UNBROKEN_SIZE_BYTES)
                + transactions.openCount() * OPEN_SIZE_BYTES
                + batchCount * BATCH_SIZE_BYTES
                + CRC_SIZE_BYTES);
        out.putShort(VERSION).putInt(states.size());
        out.putLong(transactions.producers().lossOffset());
        for (Map.Entry<Long, ProducerState> producer : states.entrySet()) {
            ProducerState state = producer.getValue();
            out.putLong(producer.getKey()).putShort(state.epoch()).putLong(state.lastUsedMs());
            out.put((byte) state.count());
            putTransaction(out, state);
            for (int age = state.count() - 1; age >= 0; age--) {
                int slot = state.slot(age);
                out.putInt(state.firstSequence(slot)).putInt(state.lastSequence(slot));
                out.putLong(state.baseOffset(slot)).putLong(state.appendTimeMs(slot));
            }
            out.putInt(state.unbrokenRecords());
        }
        out.putInt(crc(out));
        return out.flip();
    }

    private static void putTransaction(ByteBuffer out, ProducerState state) {
        UnfinishedTransaction open = state.transaction();
        out.put((byte) ((open == null ? 0 : OPEN_FLAG) | (state.lastMarkerCommit() ? COMMIT_FLAG : 0)));
        out.putInt(state.sequenceWhenEmpty()).putInt(state.coordinatorEpoch()).putLong(state.lastMarkerOffset());
        if (open != null) {
            out.putLong(open.firstOffset()).putLong(open.startedMs());
        }
    }

    /**
     * Decodes the format of {@link #encode}.
     *
     * @return the state; null if the bytes are not a complete and undamaged snapshot of a known version
     */
    public static PartitionTransactions decode(ByteBuffer bytes) {
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
        short version = covered.getShort();
        return version >= FIRST_VERSION && version <= VERSION ? decodeProducers(covered, version) : null;
    }

    private static PartitionTransactions decodeProducers(ByteBuffer in, short version) {
        PartitionTransactions transactions = new PartitionTransactions(new ProducerDedup());
        int producerCount = in.getInt();
        if (version > VERSION_WITHOUT_LOSS) {
            if (in.remaining() < Long.BYTES) {
                return null;
            }
            transactions.producers().onPossibleLoss(in.getLong());
        }
        for (int i = 0; i < producerCount; i++) {
            if (!decodeProducer(in, version, transactions)) {
                return null;
            }
        }
        return in.hasRemaining() ? null : transactions;
    }

    /** Returns false if the bytes are not those of a producer. */
    private static boolean decodeProducer(ByteBuffer in, short version, PartitionTransactions transactions) {
        if (in.remaining() < PRODUCER_SIZE_BYTES) {
            return false;
        }
        long producerId = in.getLong();
        ProducerState state = transactions.producers().stateFor(producerId);
        short epoch = in.getShort();
        state.restoreEpoch(epoch, ProducerState.ANY_SEQUENCE);
        state.use(in.getLong());
        int batchCount = in.get();
        if (version > FIRST_VERSION && !decodeTransaction(in, producerId, epoch, transactions)) {
            return false;
        }
        if (batchCount < 0
                || batchCount > ProducerDedup.REMEMBERED_BATCHES
                || in.remaining() < batchCount * BATCH_SIZE_BYTES) {
            return false;
        }
        for (int i = 0; i < batchCount; i++) {
            state.add(epoch, in.getInt(), in.getInt(), in.getLong(), in.getLong());
        }
        return version <= VERSION_WITHOUT_UNBROKEN || decodeUnbroken(in, state);
    }

    private static boolean decodeUnbroken(ByteBuffer in, ProducerState state) {
        if (in.remaining() < UNBROKEN_SIZE_BYTES) {
            return false;
        }
        state.restoreUnbroken(in.getInt());
        return true;
    }

    private static boolean decodeTransaction(
            ByteBuffer in, long producerId, short epoch, PartitionTransactions transactions) {
        if (in.remaining() < TRANSACTION_SIZE_BYTES) {
            return false;
        }
        ProducerState state = transactions.producers().stateFor(producerId);
        int flags = in.get();
        state.restoreEpoch(epoch, in.getInt());
        state.restoreMarker(in.getInt(), in.getLong(), (flags & COMMIT_FLAG) != 0);
        if ((flags & OPEN_FLAG) != 0) {
            if (in.remaining() < OPEN_SIZE_BYTES) {
                return false;
            }
            transactions.open(state, new UnfinishedTransaction(producerId, in.getLong(), in.getLong()));
        }
        return true;
    }

    /** CRC of everything before the buffer's position. */
    private static int crc(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().flip());
        return (int) crc.getValue();
    }
}
