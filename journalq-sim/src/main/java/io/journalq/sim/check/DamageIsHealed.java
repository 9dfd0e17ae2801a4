package io.journalq.sim.check;

import io.journalq.common.record.RecordBatch;
import io.journalq.server.metadata.partition.PartitionImage;
import io.journalq.server.shard.partition.ReplicaStatus;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.Damage;
import io.journalq.sim.world.Violations;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.BiConsumer;

/**
 * A replica whose disk changed a bit of a closed segment has the right bytes again, as long as another in-sync replica
 * has them. Damages one replica of a partition at most.
 */
public final class DamageIsHealed {
    private static final String SEGMENT_SUFFIX = ".log";
    /** What a process has written to the newest segments is in the page cache, so that the broker does not check it. */
    private static final int WARM_SEGMENTS = 2;

    private final Violations violations;
    private final Path data;
    private final Random random;
    private final BiConsumer<ClusterReplicas.Id, Integer> onDamage;
    private final Set<ClusterReplicas.Id> chosen = new HashSet<>();
    private final List<Place> places = new ArrayList<>();

    private record Place(ClusterReplicas.Id partition, int broker, SimDisk disk, Damage damage) {}

    /**
     * Creates a check.
     *
     * @param data the data directory of each broker
     * @param onDamage learns which replica is damaged, and the broker that has it
     */
    public DamageIsHealed(
            Violations violations, Path data, Random random, BiConsumer<ClusterReplicas.Id, Integer> onDamage) {
        this.violations = violations;
        this.data = data;
        this.random = random;
        this.onDamage = onDamage;
    }

    /** Changes a bit of a broker's replicas, if one of them has a closed segment that another replica has, too. */
    public void damage(ClusterReplicas now, int broker, SimDisk disk) {
        for (var entry : now.open().entrySet()) {
            ClusterReplicas.Id id = entry.getKey();
            ReplicaStatus status = entry.getValue().get(broker);
            if (status != null && !chosen.contains(id) && isHealable(now.partition(id), entry.getValue(), broker)) {
                damage(id, status.highWatermark(), broker, disk);
                return;
            }
        }
    }

    private static boolean isHealable(PartitionImage partition, SortedMap<Integer, ReplicaStatus> open, int broker) {
        List<Integer> inSync = partition.inSyncReplicas();
        return !partition.reassignment().isInProgress()
                && inSync.size() > 1
                && inSync.contains(broker)
                && open.keySet().containsAll(inSync);
    }

    private void damage(ClusterReplicas.Id id, long highWatermark, int broker, SimDisk disk) {
        Path directory = data.resolve(id.topicId() + "-" + id.partition());
        List<String> segments = disk.list(directory).stream()
                .filter(name -> name.endsWith(SEGMENT_SUFFIX))
                .sorted()
                .toList();
        List<Path> closed = new ArrayList<>();
        for (int i = 0; i + 1 < segments.size(); i++) {
            if (baseOffset(segments.get(i + 1)) <= highWatermark) {
                closed.add(directory.resolve(segments.get(i)));
            }
        }
        if (closed.isEmpty()) {
            return;
        }
        int index = random.nextInt(closed.size());
        Path segment = closed.get(index);
        boolean isWarm = index >= segments.size() - WARM_SEGMENTS;
        Damage damage = disk.flipBit(segment, position(read(disk, segment), isWarm));
        chosen.add(id);
        places.add(new Place(id, broker, disk, damage));
        onDamage.accept(id, broker);
    }

    private static long baseOffset(String segment) {
        return Long.parseLong(segment.substring(0, segment.length() - SEGMENT_SUFFIX.length()));
    }

    /**
     * A position that the structure of the log or a CRC covers. A leader epoch is not covered: only a comparison of
     * replicas finds that it changes.
     *
     * @param isWarm whether only the CRC is checked, by clients
     */
    private int position(byte[] segment, boolean isWarm) {
        List<Integer> batches = new ArrayList<>();
        for (int at = 0; at < segment.length; at += sizeBytes(segment, at)) {
            batches.add(at);
        }
        int batch = batches.get(random.nextInt(batches.size()));
        int epochBytes = RecordBatch.MAGIC - RecordBatch.LEADER_EPOCH;
        int position = random.nextInt(sizeBytes(segment, batch) - epochBytes);
        int place = position < RecordBatch.LEADER_EPOCH ? position : position + epochBytes;
        return batch + (isWarm ? Math.max(RecordBatch.CRC, place) : place);
    }

    private static int sizeBytes(byte[] segment, int batch) {
        return RecordBatch.LOG_OVERHEAD_BYTES + ByteBuffer.wrap(segment).getInt(batch + RecordBatch.LENGTH);
    }

    /** Whether no replica has a changed byte any more. */
    public boolean isHealed() {
        return places.stream().noneMatch(DamageIsHealed::isDamaged);
    }

    private static boolean isDamaged(Place place) {
        Damage damage = place.damage();
        if (!place.disk()
                .list(damage.file().getParent())
                .contains(damage.file().getFileName().toString())) {
            return false; // The replica has moved away.
        }
        byte[] now = read(place.disk(), damage.file());
        return damage.position() < now.length && now[damage.position()] == damage.after();
    }

    /** Reports what is still damaged. */
    public void check(ClusterReplicas now) {
        places.stream()
                .filter(DamageIsHealed::isDamaged)
                .forEach(place -> violations.report(
                        "DamageIsHealed",
                        "byte " + place.damage().position() + " of "
                                + place.damage().file() + " on broker " + place.broker() + " is still the wrong one: "
                                + now.partition(place.partition())));
    }

    private static byte[] read(SimDisk disk, Path file) {
        try {
            return disk.read(file, Integer.MAX_VALUE);
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
