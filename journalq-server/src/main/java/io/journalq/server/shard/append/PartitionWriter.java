package io.journalq.server.shard.append;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.replication.ReplicaMachine;
import io.journalq.server.shard.flush.DeferredWrites;
import io.journalq.server.shard.flush.PartitionDurability;
import io.journalq.server.shard.read.ReadableLog;
import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the staged batches of one partition once in each iteration of the loop, and acknowledges each batch as its
 * topic's delivery mode demands: at once, written, or durable. Batches whose senders wait for all in-sync replicas are
 * then acknowledged when the high watermark passes them. Batches that cannot be written are rejected. On the
 * partition's loop.
 */
public final class PartitionWriter implements PartitionDurability.Listener, DeferredWrites.Target {
    private static final Logger log = LoggerFactory.getLogger(PartitionWriter.class);

    private final AppendResources resources;
    private final TopicPartition name;
    private final Journal journal;
    private final PartitionProducers producers;
    private final ReplicaMachine replica;
    private final ReadableLog readable;
    private final PartitionDurability durability;
    private final PendingAcknowledgements acknowledgements;
    private final Runnable write = this::write;
    private AppendSettings settings;

    /** Everything before this was acknowledged, possibly from memory, and is not dropped if it cannot be written. */
    private long acknowledgedOffset;

    private boolean writeRegistered;

    /** The disk rejects writes. */
    private boolean failing;

    /** Other replicas lack records that were acknowledged too long ago. Always false if there are no others. */
    private boolean behind;

    /** The broker is about to stop, so that another replica will lead. */
    private boolean handingOver;

    /** Whether nothing is acknowledged from memory: while {@link #failing}, {@link #behind} or {@link #handingOver}. */
    private boolean held;

    /** Null if nobody is informed. */
    private Runnable failureListener;

    private boolean offline;
    private boolean closed;

    /**
     * Creates a writer.
     *
     * @param durability reports to this writer from now on
     */
    public PartitionWriter(
            AppendResources resources,
            TopicPartition name,
            Journal journal,
            PartitionProducers producers,
            ReplicaMachine replica,
            ReadableLog readable,
            PartitionDurability durability) {
        this.resources = resources;
        this.name = name;
        this.journal = journal;
        this.producers = producers;
        this.replica = replica;
        this.readable = readable;
        this.durability = durability;
        this.acknowledgements = new PendingAcknowledgements(resources.cycle());
        durability.reportTo(this);
    }

    /** Applies the topic's configuration; also called before the first append. */
    void follow(AppendSettings newSettings) {
        settings = newSettings;
    }

    /**
     * False while writes fail, or other replicas are behind: otherwise an unlimited number of batches would be acknowledged
     * that cannot be stored, or that only this replica has.
     */
    boolean acknowledgesFromMemory(Append append) {
        return settings.deliveryMode() == DeliveryMode.PERFORMANCE && !held && !append.isInTransaction();
    }

    private void setFailing(boolean now) {
        failing = now;
        held = failing || behind || handingOver;
    }

    /**
     * Looks for records that were acknowledged here too long ago for other in-sync replicas not to have them. Until these
     * have them or leave, all appends wait for them. Called regularly while the partition has other replicas.
     *
     * @return whether there are such records
     */
    public boolean observeReplication(long maxAgeMs, long nowMs) {
        replica.observe(acknowledgedOffset, maxAgeMs, nowMs);
        boolean now = replica.isBehindAcknowledgements();
        if (now != behind) {
            setBehind(now);
        }
        return behind;
    }

    private void setBehind(boolean now) {
        behind = now;
        held = failing || behind || handingOver;
        if (!behind && !handingOver && !isConsistent()) {
            acknowledge(acknowledgements.completeUnheld(journal.startOffset()));
        }
    }

    /**
     * Acknowledges appends from now on only when all in-sync replicas have them, whatever their senders ask for, because the
     * broker is about to stop. The next leader, which is one of these replicas, then has everything that is acknowledged.
     */
    public void beginHandOver() {
        writeStaged();
        handingOver = true;
        held = true;
    }

    /** Whether all in-sync replicas have everything that this one has acknowledged alone. */
    public boolean isReplicated() {
        return replica.hasReplicated(acknowledgedOffset);
    }

    private void acknowledge(long offset) {
        acknowledgedOffset = Math.max(acknowledgedOffset, offset);
    }

    /** Whether an append must be on all in-sync replicas before it is acknowledged. */
    boolean awaitsReplicas(Append append) {
        return append.acks() == RequiredAcks.ALL || isConsistent();
    }

    private boolean isConsistent() {
        return settings.deliveryMode() == DeliveryMode.CONSISTENT;
    }

    /** Acknowledges a staged append now, and writes it later. */
    void acknowledgeFromMemory(Append append) {
        readable.onAppended(append.keptSizeBytes());
        acknowledgedOffset = Math.max(acknowledgedOffset, append.nextOffset());
        resources.lateWrites().add(this, append.keptSizeBytes(), settings.writeIntervalMs());
        append.complete(journal.startOffset());
    }

    /** Writes a staged append at the end of this cycle, and acknowledges it then or later. */
    void writeAndAcknowledge(Append append) {
        acknowledgements.add(append);
        writeSoon(append.keptSizeBytes());
    }

    /** Writes batches that a leader has sent, which are staged, at the end of this cycle. */
    public void writeFetched(int sizeBytes) {
        writeSoon(sizeBytes);
    }

    private void writeSoon(int sizeBytes) {
        readable.onAppended(sizeBytes);
        if (!writeRegistered) {
            writeRegistered = true;
            resources.cycle().onWrite(write);
        }
    }

    /**
     * Writes all staged batches before the end of the cycle. Used for batches that were acknowledged from memory, and
     * before records are deleted, because the state of producers can be stored only while nothing is staged.
     */
    @Override
    public void writeStaged() {
        if (journal.isDirty()) {
            write();
        }
    }

    private void write() {
        writeRegistered = false;
        if (closed) {
            return;
        }
        long writtenBefore = journal.writtenOffset();
        durability.fenceAfterFailure();
        IOException failure = writeJournal();
        replica.onWritten(journal.writtenOffset());
        if (failure != null) {
            onWriteFailure(failure);
        } else if (failing && journal.writtenOffset() > writtenBefore) {
            setFailing(false);
            log.info("partition accepts records again: partition={}", name);
        }
        producers.onWritten(journal.writtenOffset(), Math.max(journal.writtenOffset(), acknowledgedOffset));
        durability.onWritten();
        producers.snapshotIfRolled();
        readable.onWritten();
        if (isConsistent()) {
            acknowledgements.awaitDurability();
            if (journal.writtenOffset() == writtenBefore) {
                // Only duplicates: the batches that they wait for may already be durable, which is not reported again.
                long durableOffset = durability.durableOffset();
                onDurable(durableOffset);
                durability.completeFlushes(durableOffset);
            }
        } else {
            readable.onSafe(journal.writtenOffset());
            if (replica.isSufficient()) {
                acknowledgements.completeWritten(readable.highWatermark(), journal.startOffset());
            } else {
                acknowledge(acknowledgements.replicateWritten(
                        journal.writtenOffset(), behind || handingOver, journal.startOffset()));
                completeReplicated();
            }
        }
    }

    /**
     * Changes the replica, see {@link ReadableLog#onReplicaChange}. Acknowledges the appends that are then on every
     * in-sync replica, and rejects them if too few replicas are left.
     */
    public void onReplicaChange(BooleanSupplier change) {
        readable.onReplicaChange(change);
        completeReplicated();
    }

    private void completeReplicated() {
        acknowledgements.completeReplicated(readable.highWatermark(), journal.startOffset());
        if (behind && !replica.isBehindAcknowledgements()) {
            setBehind(false);
        }
        if (!replica.hasEnoughReplicas()) {
            acknowledgements.refuseUnreplicated(isConsistent(), ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, null);
        }
    }

    /** Returns why not everything was written; null if it was. */
    private IOException writeJournal() {
        try {
            journal.write(acknowledgedOffset);
            return null;
        } catch (IOException failure) {
            return failure;
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure of a write: partition={}", name, defect);
            // Waiting appends are rejected, and the producers' state is reset to the end of the journal.
            return new IOException("unexpected failure of a write: " + defect, defect);
        }
    }

    /**
     * Drops the batches that could not be written from the journal. Their producers are informed, and may send them
     * again. Batches that were acknowledged from memory stay in memory, and their write is retried.
     */
    private void onWriteFailure(IOException failure) {
        if (!failing) {
            setFailing(true);
            log.error("cannot write: partition={} reason=\"{}\"", name, failure.getMessage(), failure);
        }
        durability.onWriteFailure();
        long keptOffset = Math.max(journal.writtenOffset(), acknowledgedOffset);
        if (journal.isDirty() && !offline) {
            resources.lateWrites().add(this, 0, settings.writeIntervalMs());
        }
        producers.truncateTo(keptOffset);
        acknowledgements.refuseUnwritten(keptOffset, failure);
    }

    @Override
    public void onDurable(long offset) {
        readable.onSafe(offset);
        if (replica.isSufficient()) {
            acknowledgements.completeDurable(offset, journal.startOffset());
        } else {
            acknowledge(acknowledgements.replicateDurable(
                    offset, isConsistent() || behind || handingOver, journal.startOffset()));
            completeReplicated();
        }
    }

    @Override
    public void onFlushFailure(IOException failure) {
        if (!(failure instanceof SyncNotBegunException) && !failing) {
            setFailing(true);
            log.error("cannot flush: partition={} reason=\"{}\"", name, failure.getMessage(), failure);
        }
        acknowledgements.refuseUnflushed(failure);
        if (!closed && journal.isFenced() && failureListener != null) {
            failureListener.run();
        }
    }

    /** Sets who is informed when nothing can be written to the log any more. On the loop. */
    public void setFailureListener(Runnable listener) {
        failureListener = listener;
    }

    /**
     * Stops writing, because the partition's files cannot be used any more. Staged batches are rejected when they are
     * due to be written.
     */
    public void takeOffline(IOException reason) {
        offline = true;
        setFailing(true);
        acknowledgements.refuseUnflushed(reason);
        acknowledgements.refuseUnreplicated(true, ErrorCode.KAFKA_STORAGE_ERROR, reason.getMessage());
        durability.takeOffline();
        resources.lateWrites().forget(this);
    }

    /**
     * The partition is no longer led here: writes what is staged, which the next leader may have too, and rejects all
     * waiting appends.
     */
    public void endLeading() {
        writeStaged();
        behind = false;
        held = failing || handingOver;
        acknowledgements.refuseAll(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    /** Rejects all waiting appends, because the partition leaves its shard. */
    public void close() {
        closed = true;
        acknowledgements.refuseAll(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        durability.close();
        resources.lateWrites().forget(this);
    }
}
