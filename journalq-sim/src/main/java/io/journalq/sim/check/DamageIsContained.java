package io.journalq.sim.check;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.segment.Segment;
import io.journalq.sim.disk.SimDisk.Damage;
import io.journalq.sim.workload.PartitionHistory;
import io.journalq.sim.workload.ReadBack;
import io.journalq.sim.world.Violations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A flipped bit costs the batch that it is in, and no other; and if it costs that, the broker says so, by the name of the
 * file. It may also say so to the reader, by refusing to read that batch and no other.
 *
 * <p>Not held to this: writes that went astray, which leave the same holes as a power loss in what was never synced; what
 * only a damaged write-ahead file held; and, after a power loss, what is behind a batch with several flipped bits.
 */
public final class DamageIsContained {
    private final Violations violations;
    private final List<DamagedBatch> batches = new ArrayList<>();
    /** Segments that the broker's log named. */
    private final Set<String> toldOf = new HashSet<>();
    /** Directories with a flipped bit that cannot be attributed to a batch. */
    private final Set<String> unknown = new HashSet<>();

    /** File and position of every flipped bit, for the report of a violation. */
    private final List<String> flips = new ArrayList<>();

    private boolean anythingGoes;

    /** Offsets of a batch with a flipped bit, and its segment's name without the suffix. */
    private record DamagedBatch(String directory, String segment, long firstOffset, long lastOffset) {
        boolean isOf(PartitionHistory partition) {
            return directory.equals(DamageIsContained.directory(partition));
        }
    }

    public DamageIsContained(Violations violations) {
        this.violations = violations;
    }

    /** A bit flipped while the broker was down. */
    public void onDamage(Damage damage) {
        Path file = damage.file();
        String name = file.getFileName().toString();
        flips.add(file + " at byte " + damage.position());
        if (name.endsWith(".wal")) {
            anythingGoes = true;
        }
        if (!name.matches("\\d{20}\\..*") || name.matches(".*\\.(index|snapshot|txnindex)(\\..*)?")) {
            return;
        }
        String directory = file.getParent().getFileName().toString();
        ByteBuf log = Unpooled.wrappedBuffer(damage.before());
        for (int at = 0; at + RecordBatch.HEADER_SIZE_BYTES <= log.readableBytes(); ) {
            int sizeBytes = RecordBatch.sizeBytes(log, at);
            if (sizeBytes < RecordBatch.HEADER_SIZE_BYTES || RecordBatch.magic(log, at) != 2) {
                unknown.add(directory); // It was damaged before, or never written.
                return;
            }
            if (damage.position() < at + sizeBytes) {
                batches.add(new DamagedBatch(
                        directory,
                        file.getParent()
                                .resolve(name.substring(0, Segment.OFFSET_DIGITS))
                                .toString(),
                        RecordBatch.baseOffset(log, at),
                        RecordBatch.nextOffset(log, at) - 1));
                return;
            }
            at += sizeBytes;
        }
    }

    /** Writes went astray, and nobody can tell what they left. */
    public void onMisdirectedWrites() {
        anythingGoes = true;
    }

    /** The broker logged something. */
    public void onLog(String words) {
        for (DamagedBatch batch : batches) {
            if (words.contains(batch.segment())) {
                toldOf.add(batch.segment());
            }
        }
    }

    /** Whether a record that is missing was in a damaged batch, or was refused to the reader. */
    boolean explains(PartitionHistory partition, long offset, ReadBack found, boolean powerLost) {
        if (anythingGoes || found.corrupt() != null || unknown.contains(directory(partition))) {
            return true;
        }
        if (powerLost && isBehindSeveralFlippedBits(partition, offset)) {
            return true;
        }
        boolean refused = found.unreadable().contains(offset);
        for (DamagedBatch batch : batches) {
            if (batch.isOf(partition) && offset >= batch.firstOffset() && offset <= batch.lastOffset()) {
                if (!refused && !toldOf.contains(batch.segment())) {
                    violations.report(
                            "DamageIsReported",
                            partition + " lost offset " + offset + " to a flipped bit in " + batch
                                    + ", and the broker's log does not say so");
                }
                return true;
            }
        }
        return false;
    }

    /** Whether two bits of one batch before {@code offset} were flipped: after a power loss, it may look like a torn write. */
    private boolean isBehindSeveralFlippedBits(PartitionHistory partition, long offset) {
        Set<DamagedBatch> once = new HashSet<>();
        return batches.stream()
                .filter(batch -> batch.isOf(partition) && batch.lastOffset() < offset)
                .anyMatch(batch -> !once.add(batch));
    }

    /** Whether a batch behind {@code offset} was damaged, or may have been. */
    boolean isDamagedBehind(PartitionHistory partition, long offset) {
        return anythingGoes
                || unknown.contains(directory(partition))
                || batches.stream().anyMatch(batch -> batch.isOf(partition) && batch.lastOffset() > offset);
    }

    private static String directory(PartitionHistory partition) {
        return partition.topicId() + "-" + partition.partition();
    }

    @Override
    public String toString() {
        return "damaged are " + batches + ", by bits that flipped in " + flips;
    }
}
