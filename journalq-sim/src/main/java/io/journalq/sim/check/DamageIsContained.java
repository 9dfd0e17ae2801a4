package io.journalq.sim.check;

import io.journalq.common.record.Crc32c;
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A flipped bit may cost only the batch that contains it. If that batch is lost, the log of the broker names the file,
 * or the broker refuses to serve the batch.
 *
 * <p>The following damage is exempt: misdirected writes, which leave the same holes as a power loss in data that were
 * never fsynced; records that only a damaged write-ahead file held; and, after a power loss, what follows a batch with
 * several flipped bits.
 */
public final class DamageIsContained {
    /** A segment, which compaction names by its first and its end offset until it has replaced others. */
    private static final Pattern SEGMENT_FILE = Pattern.compile("\\d{20}(-\\d{20})?\\..*");

    private static final Pattern DERIVED_FILE = Pattern.compile(".*\\.(index|snapshot|txnindex)(\\..*)?");

    private final Violations violations;
    private final List<DamagedBatch> batches = new ArrayList<>();
    /** Segments that the log of the broker has named. */
    private final Set<String> namedInLog = new HashSet<>();
    /** Directories with a flipped bit that cannot be attributed to a batch. */
    private final Set<String> unknown = new HashSet<>();

    /** By file and position. */
    private final Map<Path, Map<Integer, FlippedByte>> flippedBytes = new HashMap<>();

    /** File and position of each flipped bit, for the details of a violation. */
    private final List<String> flips = new ArrayList<>();

    private boolean exempt;

    /** A byte before any of its bits flipped, and after. */
    private record FlippedByte(byte before, byte after) {}

    /** The offsets of a batch with a flipped bit, and the name of its segment without the suffix. */
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
            exempt = true;
        }
        if (!SEGMENT_FILE.matcher(name).matches() || DERIVED_FILE.matcher(name).matches()) {
            return;
        }
        String directory = file.getParent().getFileName().toString();
        ByteBuf found = Unpooled.wrappedBuffer(damage.before());
        ByteBuf original = Unpooled.wrappedBuffer(withoutEarlierFlips(damage));
        for (int at = 0; at + RecordBatch.HEADER_SIZE_BYTES <= found.readableBytes(); ) {
            ByteBuf log = isIntact(original, at) ? original : found;
            int sizeBytes = RecordBatch.sizeBytes(log, at);
            if (sizeBytes < RecordBatch.HEADER_SIZE_BYTES || RecordBatch.magic(log, at) != 2) {
                unknown.add(directory); // The batch was damaged before, or never written.
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

    /** The content of the file before any of its bits flipped. Flipped bytes that were overwritten since stay as they are. */
    private byte[] withoutEarlierFlips(Damage damage) {
        Map<Integer, FlippedByte> earlier = flippedBytes.computeIfAbsent(damage.file(), file -> new HashMap<>());
        byte[] content = damage.before().clone();
        earlier.forEach((position, flipped) -> {
            if (position < content.length && content[position] == flipped.after()) {
                content[position] = flipped.before();
            }
        });
        earlier.put(damage.position(), new FlippedByte(content[damage.position()], damage.after()));
        return content;
    }

    private static boolean isIntact(ByteBuf log, int at) {
        int sizeBytes = RecordBatch.sizeBytes(log, at);
        return sizeBytes >= RecordBatch.HEADER_SIZE_BYTES
                && sizeBytes <= log.readableBytes() - at
                && RecordBatch.crc(log, at)
                        == Crc32c.compute(log, at + RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES);
    }

    /** Writes were misdirected. What they left is unknown. */
    public void onMisdirectedWrites() {
        exempt = true;
    }

    /** The broker logged an error or a warning. */
    public void onLog(String message) {
        for (DamagedBatch batch : batches) {
            if (message.contains(batch.segment())) {
                namedInLog.add(batch.segment());
            }
        }
    }

    /**
     * Whether damage explains that a record is missing. Reports a violation if the record was in a damaged batch and
     * the broker neither logged nor refused it.
     */
    boolean explains(PartitionHistory partition, long offset, ReadBack found, boolean powerLost) {
        if (exempt || found.corrupt() != null || unknown.contains(directory(partition))) {
            return true;
        }
        if (powerLost && followsSeveralFlippedBits(partition, offset)) {
            return true;
        }
        boolean refused = found.unreadable().contains(offset);
        for (DamagedBatch batch : batches) {
            if (batch.isOf(partition) && offset >= batch.firstOffset() && offset <= batch.lastOffset()) {
                if (!refused && !namedInLog.contains(batch.segment())) {
                    violations.report(
                            "DamageIsReported",
                            partition + " lost offset " + offset + " to a flipped bit in " + batch
                                    + ", and the log of the broker does not name the segment");
                }
                return true;
            }
        }
        return false;
    }

    /**
     * Whether two bits flipped in one batch before {@code offset}. After a power loss, such a batch may look like a
     * torn write.
     */
    private boolean followsSeveralFlippedBits(PartitionHistory partition, long offset) {
        Set<DamagedBatch> once = new HashSet<>();
        return batches.stream()
                .filter(batch -> batch.isOf(partition) && batch.lastOffset() < offset)
                .anyMatch(batch -> !once.add(batch));
    }

    /** Whether a batch after {@code offset} was damaged, or may have been. */
    boolean isDamagedAfter(PartitionHistory partition, long offset) {
        return exempt
                || unknown.contains(directory(partition))
                || batches.stream().anyMatch(batch -> batch.isOf(partition) && batch.lastOffset() > offset);
    }

    private static String directory(PartitionHistory partition) {
        return partition.topicId() + "-" + partition.partition();
    }

    @Override
    public String toString() {
        return "damaged batches " + batches + ", flipped bits " + flips;
    }
}
