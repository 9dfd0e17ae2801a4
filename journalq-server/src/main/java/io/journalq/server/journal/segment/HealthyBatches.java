package io.journalq.server.journal.segment;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Finds batches next to damage in a segment that a checkpoint covers, so that damage hides no healthy batch behind it.
 * Works on one interval of the index at a time, because the index gives the offsets at which an interval begins and
 * ends.
 *
 * <p>A batch is healthy if its checksum matches and its offsets fit. The checksum does not cover the base offset. If
 * batches contradict each other, those in the longest ascending sequence are healthy; of two sequences of the same
 * length, the one with fewer gaps that no bytes between its batches explain. The caller holds a reference on the
 * segment. One thread; blocks.
 */
public final class HealthyBatches {
    private static final int CHUNK_BYTES = 64 << 10;

    /** More contradictions than this in a row are not resolved. */
    private static final int MAX_CONTRADICTIONS = 64;

    private final Segment segment;
    private final LogFile file;

    private HealthyBatches(Segment segment) throws IOException {
        this.segment = segment;
        this.file = segment.file();
    }

    /** A healthy batch. */
    public record Batch(int position, int sizeBytes, long baseOffset, long nextOffset) {
        int endPosition() {
            return position + sizeBytes;
        }
    }

    /**
     * Finds the first healthy batch that ends behind {@code offset}.
     *
     * @throws CorruptJournalException if the offset may be in a damaged batch
     */
    public static Batch find(Segment segment, long offset) throws IOException {
        return new HealthyBatches(segment).find(offset);
    }

    private Batch find(long offset) throws IOException {
        SparseIndex index = segment.index();
        int sizeBytes = segment.sizeBytes();
        int healthyUntil = index.floorByOffset(offset);
        for (int from = healthyUntil; from < sizeBytes; ) {
            int to = index.positionBehind(from, sizeBytes);
            long endOffset = to == sizeBytes ? segment.endOffset() : index.offsetAt(to);
            for (Batch batch :
                    ascending(batchesIn(from, to), new Interval(from, to, index.offsetAt(from), endOffset))) {
                if (batch.nextOffset > offset) {
                    boolean afterDamage = segment.healthyFrom(healthyUntil) != batch.position;
                    if (afterDamage && batch.baseOffset > offset) {
                        throw new CorruptJournalException(segment.logPath(), healthyUntil, "a damaged batch");
                    }
                    return batch;
                }
                healthyUntil = batch.endPosition();
            }
            from = to;
        }
        throw new CorruptJournalException(
                segment.logPath(),
                healthyUntil,
                "no batch behind this holds offset " + offset + ", which the segment contained");
    }

    /** The batches between two positions whose checksums match. */
    private List<Batch> batchesIn(int from, int to) throws IOException {
        List<Batch> batches = new ArrayList<>();
        BatchScanner scanner = new BatchScanner(file, from, to, CHUNK_BYTES);
        for (int at = segment.healthyFrom(from); at < to; at = segment.healthyFrom(at)) {
            if (isWhole(scanner, at)) {
                batches.add(new Batch(at, scanner.sizeBytes(), scanner.baseOffset(), scanner.nextOffset()));
                at += scanner.sizeBytes();
            } else {
                at = behindDamage(scanner, at, to);
            }
        }
        return batches;
    }

    private static boolean isWhole(BatchScanner scanner, int position) throws IOException {
        scanner.skipTo(position);
        return scanner.next() && scanner.crcMatches();
    }

    /** End of the damaged batch at {@code bad}; {@code to} if it cannot be determined. */
    private int behindDamage(BatchScanner scanner, int bad, int to) throws IOException {
        int byChecksum = endByChecksum(bad, to);
        if (byChecksum > 0) {
            return byChecksum;
        }
        scanner.skipTo(bad);
        scanner.next();
        int claimedEnd = scanner.claimedEnd();
        if (claimedEnd > bad && (claimedEnd == to || isWhole(scanner, claimedEnd))) {
            return claimedEnd;
        }
        scanner.skipTo(bad);
        int candidate = scanner.nextCandidate(bad + 1);
        while (candidate < to && !isWhole(scanner, candidate)) {
            candidate = scanner.nextCandidate(candidate + 1);
        }
        return candidate;
    }

    /** End of the batch at {@code bad} according to its checksum, if only its length is damaged; 0 otherwise. */
    private int endByChecksum(int bad, int to) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(Math.min(CHUNK_BYTES, to - bad));
        if (to - bad < RecordBatch.HEADER_SIZE_BYTES || file.read(chunk, bad) < RecordBatch.HEADER_SIZE_BYTES) {
            return 0;
        }
        int stored = chunk.getInt(RecordBatch.CRC);
        CRC32C crc = new CRC32C();
        int inChunk = RecordBatch.ATTRIBUTES;
        for (int at = bad + inChunk; at < to; at++, inChunk++) {
            if (inChunk == chunk.position()) {
                chunk.clear().limit(Math.min(chunk.capacity(), to - at));
                if (file.read(chunk, at) <= 0) {
                    return 0;
                }
                inChunk = 0;
            }
            crc.update(chunk.array()[inChunk]);
            if ((int) crc.getValue() == stored && at + 1 - bad >= RecordBatch.HEADER_SIZE_BYTES) {
                return at + 1;
            }
        }
        return 0;
    }

    /**
     * Where batches are looked for.
     *
     * @param baseOffset no batch begins before it
     * @param endOffset no batch ends behind it
     */
    record Interval(int from, int to, long baseOffset, long endOffset) {}

    /** The longest sequence of batches whose offsets ascend. */
    static List<Batch> ascending(List<Batch> batches, Interval interval) {
        int count = batches.size();
        int[] lengths = new int[count];
        int[] joints = new int[count];
        int[] previous = new int[count];
        int last = -1;
        int lastJoints = 0;
        for (int i = 0; i < count; i++) {
            Batch batch = batches.get(i);
            if (batch.baseOffset < interval.baseOffset || batch.nextOffset > interval.endOffset) {
                continue;
            }
            lengths[i] = 1;
            joints[i] = joint(interval.from, batch.position, batch.baseOffset - interval.baseOffset);
            previous[i] = -1;
            for (int j = Math.max(0, i - MAX_CONTRADICTIONS); j < i; j++) {
                Batch before = batches.get(j);
                if (lengths[j] == 0 || before.nextOffset > batch.baseOffset) {
                    continue;
                }
                int joinedHere =
                        joints[j] + joint(before.endPosition(), batch.position, batch.baseOffset - before.nextOffset);
                if (lengths[j] + 1 > lengths[i] || (lengths[j] + 1 == lengths[i] && joinedHere > joints[i])) {
                    lengths[i] = lengths[j] + 1;
                    joints[i] = joinedHere;
                    previous[i] = j;
                }
            }
            int joined = joints[i] + joint(batch.endPosition(), interval.to, interval.endOffset - batch.nextOffset);
            if (last < 0 || lengths[i] > lengths[last] || (lengths[i] == lengths[last] && joined > lastJoints)) {
                last = i;
                lastJoints = joined;
            }
        }
        List<Batch> sequence = new ArrayList<>();
        for (int i = last; i >= 0; i = previous[i]) {
            sequence.add(0, batches.get(i));
        }
        return sequence;
    }

    /** 1 if two batches join without a gap, or if the gap of offsets between them is explained by bytes between them. */
    private static int joint(int endPosition, int position, long missingOffsets) {
        return missingOffsets == 0 || endPosition < position ? 1 : 0;
    }
}
