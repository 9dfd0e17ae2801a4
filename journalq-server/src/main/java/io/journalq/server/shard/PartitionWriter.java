package io.journalq.server.shard;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.SyncNotBegunException;
import io.journalq.server.shard.flush.Durability;
import io.journalq.server.shard.flush.LateWrites;
import io.journalq.server.shard.read.ReadableLog;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what one partition staged, once for all that one iteration of the loop brought, and acknowledges it when it is as
 * safe as the topic's delivery mode demands: at once, written, or durable. What the disk does not take is refused. On the
 * partition's loop.
 */
final class PartitionWriter implements Durability.Listener, LateWrites.Target {
    private static final Logger log = LoggerFactory.getLogger(PartitionWriter.class);

    private final Shard shard;
    private final PartitionHost host;
    private final Journal journal;
    private final BatchAdmission admission;
    private final PartitionProducers producers;
    private final ReadableLog readable;
    private final Durability durability;
    private final PendingAcknowledgements acknowledgements;
    private final Runnable write = this::write;

    /** What lies before this was acknowledged, perhaps from memory: it is not dropped when it cannot be written. */
    private long acknowledgedOffset;

    private boolean writeRegistered;

    /** The disk does not take what comes. */
    private boolean failing;

    PartitionWriter(
            Shard shard,
            PartitionHost host,
            BatchAdmission admission,
            PartitionProducers producers,
            ReadableLog readable,
            Durability durability) {
        this.shard = shard;
        this.host = host;
        this.journal = host.journal();
        this.admission = admission;
        this.producers = producers;
        this.readable = readable;
        this.durability = durability;
        this.acknowledgements = new PendingAcknowledgements(shard.cycle().counters());
        durability.reportTo(this);
    }

    /** While writing fails, nothing is: what cannot be kept would be acknowledged without end. */
    boolean acknowledgesFromMemory(Append append) {
        return host.settings().deliveryMode() == DeliveryMode.PERFORMANCE && !failing && !append.isInTransaction();
    }

    /** Acknowledges a staged append now, and has it written later. */
    void acknowledgeFromMemory(Append append, int sizeBytes) {
        readable.onAppended(sizeBytes);
        acknowledgedOffset = Math.max(acknowledgedOffset, append.nextOffset());
        shard.lateWrites().add(this, sizeBytes, host.settings().writeIntervalMs());
        append.complete(journal.startOffset());
    }

    /** Writes a staged append at the end of this cycle, and acknowledges it then or later. */
    void writeAndAcknowledge(Append append, int sizeBytes) {
        acknowledgements.add(append);
        readable.onAppended(sizeBytes);
        if (!writeRegistered) {
            writeRegistered = true;
            shard.cycle().onWrite(write);
        }
    }

    /**
     * Writes what is staged before the end of the cycle: batches that were acknowledged from memory, or everything before
     * records are deleted, because the state of producers can be kept only while nothing is ahead of the journal.
     */
    @Override
    public void writeStaged() {
        if (journal.isDirty()) {
            write();
        }
    }

    private void write() {
        writeRegistered = false;
        if (host.isClosed()) {
            return;
        }
        long writtenBefore = journal.writtenOffset();
        durability.fenceAfterFailure();
        try {
            journal.write(acknowledgedOffset);
            if (failing && journal.writtenOffset() > writtenBefore) {
                failing = false;
                log.info("partition accepts records again: partition={}", host.name());
            }
        } catch (IOException failure) {
            onWriteFailure(failure);
        } catch (RuntimeException | Error defect) {
            log.error("unexpected failure of a write: partition={}", host.name(), defect);
            // Appends that wait are refused, and the producers' state goes back to where the journal ends.
            onWriteFailure(new IOException("unexpected failure of a write: " + defect, defect));
        }
        admission.onWritten(journal.writtenOffset(), Math.max(journal.writtenOffset(), acknowledgedOffset));
        durability.onWritten();
        producers.snapshotIfRolled();
        if (host.settings().deliveryMode() == DeliveryMode.CONSISTENT) {
            acknowledgements.awaitDurability();
            if (journal.writtenOffset() == writtenBefore) {
                // Repeated batches alone: what they wait for may be durable since long, and nobody would say so again.
                long durableOffset = durability.durableOffset();
                onDurable(durableOffset);
                durability.completeFlushes(durableOffset);
            }
        } else {
            readable.advanceTo(journal.writtenOffset());
            acknowledgements.completeWritten(readable.highWatermark(), journal.startOffset());
        }
    }

    /**
     * What could not be written is dropped from the journal: its producers are told, and may send it again. What was
     * acknowledged from memory stays there, and is tried again.
     */
    private void onWriteFailure(IOException failure) {
        if (!failing) {
            failing = true;
            log.error("cannot write: partition={} reason=\"{}\"", host.name(), failure.getMessage(), failure);
        }
        durability.onWriteFailure();
        long keptOffset = Math.max(journal.writtenOffset(), acknowledgedOffset);
        if (journal.isDirty() && !host.isOffline()) {
            shard.lateWrites().add(this, 0, host.settings().writeIntervalMs());
        }
        producers.truncateTo(keptOffset);
        acknowledgements.refuseUnwritten(keptOffset, failure);
    }

    @Override
    public void onDurable(long offset) {
        if (offset > readable.highWatermark()) {
            readable.advanceTo(offset);
        }
        acknowledgements.completeDurable(offset, journal.startOffset());
    }

    @Override
    public void onFlushFailure(IOException failure) {
        if (!(failure instanceof SyncNotBegunException) && !failing) {
            failing = true;
            log.error("cannot flush: partition={} reason=\"{}\"", host.name(), failure.getMessage(), failure);
        }
        acknowledgements.refuseUnflushed(failure);
    }

    /** See {@link PartitionHost#takeOffline}. What is staged is refused when it is its turn to be written. */
    void takeOffline(IOException reason) {
        failing = true;
        acknowledgements.refuseUnflushed(reason);
        durability.takeOffline();
        shard.lateWrites().forget(this);
    }

    /** The partition has left its shard: whoever waits is told so. */
    void end() {
        acknowledgements.refuseAll(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        durability.close();
        shard.lateWrites().forget(this);
    }
}
