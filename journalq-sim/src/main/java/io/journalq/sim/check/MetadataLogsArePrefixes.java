package io.journalq.sim.check;

import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The metadata logs of all brokers are prefixes of each other: if two brokers have a record at the same offset, it is
 * the same record. A snapshot is the state that the log has produced up to its offset.
 */
public final class MetadataLogsArePrefixes {
    private static final String INVARIANT = "MetadataLogsArePrefixes";

    private final Violations violations;
    /** Batches of records by the offsets at which they begin, as the first broker has applied them. */
    private final TreeMap<Long, List<Message>> log = new TreeMap<>();
    /** Snapshots of the log by the offsets at which they end. */
    private final Map<Long, List<Message>> states = new HashMap<>();

    private final MetadataMachine replayed;
    private long endOffset;

    /** @param empty a machine without state */
    public MetadataLogsArePrefixes(Violations violations, MetadataMachine empty) {
        this.violations = violations;
        this.replayed = empty;
    }

    /** The metadata of all records that a broker has applied. */
    public MetadataImage newest() {
        return replayed.image();
    }

    /** A broker applies records at an offset; returns whether it is the first one. */
    public boolean onReplay(int nodeId, long offset, List<Message> records) {
        if (offset == endOffset) {
            log.put(offset, records);
            endOffset += records.size();
            replayed.replay(records);
            states.put(endOffset, replayed.snapshot());
            return true;
        }
        if (!records.equals(log.get(offset))) {
            violations.report(
                    INVARIANT,
                    "broker " + nodeId + " has " + records + " at offset " + offset + ", another broker has "
                            + log.get(offset));
        }
        return false;
    }

    /** A broker restores a snapshot of the records before an offset. */
    public void onRestore(int nodeId, long offset, List<Message> snapshot) {
        List<Message> expected = states.get(offset);
        if (!snapshot.equals(expected)) {
            violations.report(
                    INVARIANT,
                    "broker " + nodeId + " restores a snapshot of offset " + offset + " with " + snapshot
                            + ", but the log has produced " + expected);
        }
    }
}
