package io.journalq.server.shard.replica;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.segment.LeaderEpochs;
import io.journalq.server.loop.Loop;
import io.journalq.server.replication.Divergence;
import io.journalq.server.replication.FollowerRole;
import io.journalq.server.shard.partition.PartitionHost;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Applies what a leader has responded for one partition. On the partition's loop. */
final class FetchedBatches {
    private static final Logger log = LoggerFactory.getLogger(FetchedBatches.class);

    private final Loop loop;
    private final int leader;
    private final PartitionRewrites rewrites;

    /** What the fetcher does next with the partition. */
    enum Result {
        /** It has new batches or offsets. */
        NEWS,
        /** Nothing is new. */
        NOTHING,
        /** It is left out for a while. */
        PAUSE,
        /** It is not fetched any more. */
        END
    }

    FetchedBatches(Loop loop, int leader, PartitionRewrites rewrites) {
        this.loop = loop;
        this.leader = leader;
        this.rewrites = rewrites;
    }

    Result take(FetchedPartition partition, FetchResponse.PartitionData data) {
        PartitionHost host = partition.host();
        if (!isCurrent(partition)) {
            return Result.NOTHING;
        }
        ErrorCode error = ErrorCode.of(data.errorCode());
        if (error == ErrorCode.OFFSET_OUT_OF_RANGE && data.logStartOffset() > partition.askedOffset()) {
            log.info(
                    "the leader has deleted the next records: partition={} end={} start={}",
                    host.name(),
                    partition.askedOffset(),
                    data.logStartOffset());
            return cut(host, data.logStartOffset());
        }
        if (error == ErrorCode.OFFSET_OUT_OF_RANGE
                && partition.askedLastEpoch() < 0
                && data.logStartOffset() < partition.askedOffset()
                && host.replication().beginCut(data.logStartOffset())) {
            log.info(
                    "the leader has lost the records before this empty log: partition={} end={} start={}",
                    host.name(),
                    partition.askedOffset(),
                    data.logStartOffset());
            rewrites.cut(host, data.logStartOffset());
            return Result.END;
        }
        if (error != ErrorCode.NONE) {
            // The leader or this broker does not have the newest metadata yet, or the leader's disk has failed.
            log.debug("cannot fetch: partition={} leader={} error={}", host.name(), leader, error);
            host.replication().onLeaderRefusal();
            return Result.PAUSE;
        }
        if (data.divergingEpoch().epoch() >= 0) {
            return onDivergence(partition, data.divergingEpoch());
        }
        partition.onResponse();
        partition.onLeaderHighWatermark(data.highWatermark());
        boolean appended = false;
        RecordsData records = data.records();
        if (records != null && records.sizeBytes() > 0) {
            try {
                host.replication().appendFetched(records.buffer());
                partition.onAppended(data.highWatermark(), loop.nanoTime());
                appended = true;
            } catch (InvalidBatchException invalid) {
                log.warn(
                        "batches of a leader are refused: partition={} leader={} reason=\"{}\"",
                        host.name(),
                        leader,
                        invalid.getMessage());
                return Result.PAUSE;
            }
        }
        boolean moved = data.highWatermark() > host.replica().highWatermark();
        host.replication().onLeaderOffsets(data.highWatermark(), data.logStartOffset());
        return appended || moved ? Result.NEWS : Result.NOTHING;
    }

    /** Whether the response is for what the partition is now. */
    private boolean isCurrent(FetchedPartition partition) {
        PartitionHost host = partition.host();
        return !host.isClosed()
                && !host.isOffline()
                && host.replica().role() instanceof FollowerRole following
                && following.leader() == leader
                && following.leaderEpoch() == partition.askedEpoch()
                && host.journal().endOffset() == partition.askedOffset();
    }

    private Result onDivergence(FetchedPartition partition, FetchResponse.EpochEndOffset end) {
        PartitionHost host = partition.host();
        if (end.epoch() > partition.askedLastEpoch()) {
            log.warn(
                    "a leader responds with a newer epoch than it was asked for: partition={} leader={} epoch={}",
                    host.name(),
                    leader,
                    end.epoch());
            return Result.PAUSE;
        }
        Journal journal = host.journal();
        LeaderEpochs.Entries epochs = journal.epochs();
        // If the leader has lost records before the start of this log, it can have others there, which an empty log
        // that
        // begins behind them would never get.
        long offset = end.endOffset() < journal.startOffset()
                ? end.endOffset()
                : Divergence.cutOffset(
                        end.epoch(),
                        end.endOffset(),
                        epoch -> epochs.endOffsetOf(epoch, journal.writtenOffset())
                                .endOffset(),
                        journal.startOffset());
        log.info(
                "the end of the log differs from the leader's: partition={} end={} cutTo={}",
                host.name(),
                journal.endOffset(),
                offset);
        return cut(host, offset);
    }

    private Result cut(PartitionHost host, long offset) {
        if (host.replication().beginCut(offset)) {
            rewrites.cut(host, offset);
        } else {
            rewrites.takeOffline(
                    host,
                    "the leader, broker " + leader + ", does not have the records from offset " + offset
                            + " on, and consumers may have seen those before "
                            + host.replica().highWatermark());
        }
        return Result.END;
    }
}
