package io.journalq.sim;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ProduceRequest;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.protocol.message.TxnOffsetCommitRequest;
import io.journalq.common.protocol.message.TxnOffsetCommitResponse;
import io.journalq.common.protocol.message.WriteTxnMarkersRequest;
import io.journalq.common.protocol.message.WriteTxnMarkersResponse;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.FilterLogFile;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.metadata.BrokerRegistration;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord.ChangeState;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.sim.world.Interference;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Defects that a cluster could have, and the promise that each of them breaks. */
enum PlantedClusterBug implements Interference {
    A_DEPOSED_CONTROLLER_APPLIES_ITS_DECISIONS("MetadataLogsArePrefixes") {
        @Override
        public boolean appliesUncommitted() {
            return true;
        }
    },
    A_SNAPSHOT_DROPS_A_RECORD("MetadataLogsArePrefixes") {
        @Override
        public List<Message> onSnapshot(List<Message> records) {
            return records.stream()
                    .filter(record -> !(record instanceof TopicRecord))
                    .toList();
        }
    },
    A_REPEATED_PROPOSAL_IS_APPLIED_TWICE("IdsAreGivenOnce") {
        @Override
        public boolean appliesUnfit() {
            return true;
        }
    },
    BROKERS_GIVE_THE_SAME_PRODUCER_IDS("IdsAreGivenOnce") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            return message instanceof InitProducerIdResponse response
                    ? response.setProducerId(response.producerId() % 1_000)
                    : message;
        }
    },
    ACKNOWLEDGES_WITHOUT_APPENDING("AcknowledgedIsKept") {
        @Override
        public ApiMessage forge(ApiMessage request) {
            if (!(request instanceof ProduceRequest produce)) {
                return null;
            }
            int sizeBytes = produce.topicData()
                    .get(0)
                    .partitionData()
                    .get(0)
                    .records()
                    .buffer()
                    .readableBytes();
            return sizeBytes % 3 > 0
                    ? null
                    : new ProduceResponse()
                            .setResponses(List.of(new ProduceResponse.TopicProduceResponse()
                                    .setPartitionResponses(List.of(
                                            new ProduceResponse.PartitionProduceResponse().setBaseOffset(1_000_000)))));
        }
    },
    A_BROKER_MISSES_A_CHANGE("BrokersShowTheSameMetadata") {
        @Override
        public List<Message> onMetadata(int nodeId, List<Message> records) {
            return nodeId == 2 && records.stream().anyMatch(TopicRecord.class::isInstance) ? List.of() : records;
        }
    },
    A_START_BEGINS_NO_LEADER_EPOCH("OffsetsKeepTheirRecords") {
        @Override
        long firstSeed() {
            return 7;
        }

        @Override
        public List<Message> onMetadata(int nodeId, List<Message> records) {
            return records.stream()
                    .map(record ->
                            record instanceof PartitionChangesRecord changes ? changes.setChanges(List.of()) : record)
                    .toList();
        }
    },
    A_BROKER_LEADS_WHATEVER_IS_LED("EpochsHaveOneLeader") {
        @Override
        public List<Message> onMetadata(int nodeId, List<Message> records) {
            return records.stream()
                    .map(record -> nodeId == 2 && record instanceof PartitionChangesRecord changes
                            ? new PartitionChangesRecord()
                                    .setTopicId(changes.topicId())
                                    .setChanges(changes.changes().stream()
                                            .map(change -> copyOf(change)
                                                    .setLeader(change.leader() < 0 ? change.leader() : nodeId))
                                            .toList())
                            : record)
                    .toList();
        }
    },
    A_FENCING_ELECTS_NOBODY("FencedBrokersLeadNothing") {
        @Override
        public List<Message> onDecision(List<Message> records) {
            boolean fences =
                    records.stream().anyMatch(record -> record instanceof BrokerChangeRecord change && change.fenced());
            return records.stream()
                    .filter(record -> !fences || !(record instanceof PartitionChangesRecord))
                    .toList();
        }
    },
    A_LEADER_ACKNOWLEDGES_WITHOUT_THE_OTHERS("AcknowledgedByAllIsKept") {
        @Override
        long firstSeed() {
            return 77;
        }

        @Override
        public ApiMessage onRequest(ApiMessage message) {
            return message instanceof ProduceRequest produce ? produce.setAcks((short) 1) : message;
        }
    },
    A_LEADER_COUNTS_FETCHES_OF_ANOTHER_REPLICA("InSyncReplicasHoldTheCommitted") {
        @SuppressWarnings("ImmutableEnumChecker") // Each fetch replaces what an earlier seed has left.
        private final Map<Integer, Long> epochs = new TreeMap<>();

        @Override
        long firstSeed() {
            return 1_555;
        }

        @Override
        public FetchRequest onPeerFetch(int from, FetchRequest request) {
            epochs.put(from, request.replicaState().replicaEpoch());
            int other = from == 3 ? 2 : from;
            return epochs.containsKey(other)
                    ? request.setReplicaState(
                            new FetchRequest.ReplicaState().setReplicaId(other).setReplicaEpoch(epochs.get(other)))
                    : request;
        }
    },
    A_FOLLOWER_CUTS_TO_ITS_HIGH_WATERMARK("InSyncReplicasHoldTheCommitted") {
        @Override
        public FetchResponse onPeerFetched(FetchRequest request, FetchResponse response) {
            if (request.sessionEpoch() > 0) {
                return response;
            }
            request.topics().forEach(topic -> topic.partitions().forEach(asked -> response.responses().stream()
                    .filter(found -> found.topicId().equals(topic.topicId()))
                    .flatMap(found -> found.partitions().stream())
                    .filter(found -> found.partitionIndex() == asked.partition()
                            && found.errorCode() == 0
                            && asked.highWatermark() < asked.fetchOffset())
                    .forEach(found -> found.setDivergingEpoch(new FetchResponse.EpochEndOffset()
                            .setEpoch(asked.lastFetchedEpoch())
                            .setEndOffset(asked.highWatermark())))));
            return response;
        }
    },
    A_REFUSAL_IS_REPORTED_AS_SUCCESS("ConsistentLosesNothing") {
        @Override
        long firstSeed() {
            return 24;
        }

        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof ProduceResponse response) {
                ProduceResponse.PartitionProduceResponse data =
                        response.responses().get(0).partitionResponses().get(0);
                if (data.errorCode() != 0) {
                    data.setErrorCode((short) 0).setBaseOffset(1_000_000);
                }
            }
            return message;
        }
    },
    A_REPLICA_ACKNOWLEDGES_BEFORE_IT_HAS_SYNCED("NobodyCutsBelowItsHighWatermark") {
        @Override
        long firstSeed() {
            return 163;
        }

        @Override
        public FileStore disk(FileStore disk) {
            return new FilterFileStore(disk) {
                @Override
                public LogFile open(Path file, boolean create) throws IOException {
                    LogFile opened = delegate.open(file, create);
                    return file.toString().endsWith(".wal") ? new Unsynced(opened) : opened;
                }
            };
        }
    },
    A_BROKER_THAT_LOST_POWER_IS_TRUSTED("InSyncReplicasHoldTheCommitted") {
        @Override
        long firstSeed() {
            return 24;
        }

        @Override
        public long onRegistration(long previousEpoch) {
            return previousEpoch < -1 ? BrokerRegistration.afterPowerLoss(previousEpoch) : previousEpoch;
        }
    },
    A_BROKER_DOES_NOT_TELL_THAT_FILES_ARE_LOST("InSyncReplicasHoldTheCommitted") {
        @Override
        long firstSeed() {
            return 650;
        }

        @Override
        public boolean keepsQuietAboutLoss() {
            return true;
        }
    },
    A_BROKER_DOES_NOT_TELL_THAT_A_DISK_HAS_FAILED("FailedReplicasAreReplaced") {
        @Override
        public boolean keepsQuietAboutLoss() {
            return true;
        }
    },
    A_LEADER_ACKNOWLEDGES_ALONE_FOR_TOO_LONG("LoneAcknowledgementsAreBounded") {
        @Override
        long firstSeed() {
            return 142;
        }

        @Override
        public BrokerConfig config(BrokerConfig config) {
            try {
                return config.with("replication.lag.max.ms", "3600000", ConfigOrigin.COMMAND_LINE);
            } catch (ConfigException wrong) {
                throw new IllegalStateException(wrong);
            }
        }
    },
    NOBODY_LOOKS_WHETHER_A_DISK_HAS_ROOM("BrokersWithRoomLead") {
        @Override
        public BrokerConfig config(BrokerConfig config) {
            try {
                return config.with("disk.free.min.bytes", "0", ConfigOrigin.COMMAND_LINE);
            } catch (ConfigException wrong) {
                throw new IllegalStateException(wrong);
            }
        }
    },
    NOBODY_SCRUBS("DamageIsHealed") {
        @Override
        public BrokerConfig config(BrokerConfig config) {
            try {
                return config.with("scrub.interval.ms", "0", ConfigOrigin.COMMAND_LINE);
            } catch (ConfigException wrong) {
                throw new IllegalStateException(wrong);
            }
        }
    },
    A_COORDINATOR_FORGETS_A_MARKER_AFTER_A_MOVE("LastStableOffsetMovesOn") {
        @Override
        public boolean concernsTransactions() {
            return true;
        }

        @Override
        public ApiMessage forge(ApiMessage request) {
            return request instanceof WriteTxnMarkersRequest markers
                            && markers.markers().get(0).coordinatorEpoch() > 0
                    ? new WriteTxnMarkersResponse()
                            .setMarkers(markers.markers().stream()
                                    .map(PlantedClusterBug::written)
                                    .toList())
                    : null;
        }
    },
    A_PARTITION_GETS_THE_WRONG_MARKER("TransactionsAreWhole") {
        @Override
        public boolean concernsTransactions() {
            return true;
        }

        @Override
        public ApiMessage onRequest(ApiMessage message) {
            if (message instanceof WriteTxnMarkersRequest request) {
                request.markers().forEach(marker -> marker.setTransactionResult(!marker.transactionResult()));
            }
            return message;
        }
    },
    A_POSITION_IS_NOT_ADDED_TO_ITS_TRANSACTION("CopiesAreExactlyOnce") {
        @Override
        public boolean concernsTransactions() {
            return true;
        }

        @Override
        public ApiMessage forge(ApiMessage request) {
            return request instanceof TxnOffsetCommitRequest commit
                            && commit.topics().get(0).partitions().get(0).committedOffset() % 5 == 0
                    ? new TxnOffsetCommitResponse()
                            .setTopics(List.of(new TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic()
                                    .setPartitions(
                                            List.of(new TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition()))))
                    : null;
        }
    },
    AN_ABORTED_TRANSACTION_IS_NOT_LISTED("CommittedViewIsRight") {
        @Override
        public boolean concernsTransactions() {
            return true;
        }

        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof FetchResponse response) {
                response.responses().forEach(topic -> topic.partitions()
                        .forEach(partition -> partition.setAbortedTransactions(null)));
            }
            return message;
        }
    },
    A_COMMIT_IS_FORGOTTEN("TransactionsAreWhole") {
        @Override
        public boolean concernsTransactions() {
            return true;
        }

        @Override
        public ApiMessage onRequest(ApiMessage message) {
            return message instanceof EndTxnRequest request ? request.setCommitted(false) : message;
        }
    },
    A_FOLLOWER_ACKNOWLEDGES_WHAT_IT_DOES_NOT_HAVE("InSyncReplicasHoldTheCommitted") {
        @Override
        public FetchRequest onPeerFetch(int from, FetchRequest request) {
            if (request.sessionEpoch() % 3 == 1) {
                request.topics().forEach(topic -> topic.partitions()
                        .forEach(asked -> asked.setFetchOffset(asked.fetchOffset() + 2)));
            }
            return request;
        }
    };

    /** A write-ahead file that is never synced. */
    private static final class Unsynced extends FilterLogFile {
        Unsynced(LogFile file) {
            super(file);
        }

        @Override
        public void sync() {}
    }

    private final String invariant;

    PlantedClusterBug(String invariant) {
        this.invariant = invariant;
    }

    private static WriteTxnMarkersResponse.WritableTxnMarkerResult written(
            WriteTxnMarkersRequest.WritableTxnMarker marker) {
        return new WriteTxnMarkersResponse.WritableTxnMarkerResult()
                .setProducerId(marker.producerId())
                .setTopics(marker.topics().stream()
                        .map(topic -> new WriteTxnMarkersResponse.WritableTxnMarkerTopicResult()
                                .setName(topic.name())
                                .setPartitions(topic.partitionIndexes().stream()
                                        .map(partition -> new WriteTxnMarkersResponse.WritableTxnMarkerPartitionResult()
                                                .setPartitionIndex(partition))
                                        .toList()))
                        .toList());
    }

    private static ChangeState copyOf(ChangeState change) {
        return new ChangeState()
                .setPartition(change.partition())
                .setLeader(change.leader())
                .setInSyncReplicas(change.inSyncReplicas())
                .setEligibleLeaders(change.eligibleLeaders())
                .setLastKnownEligible(change.lastKnownEligible());
    }

    /** A seed from which on few seeds are needed to find it. */
    long firstSeed() {
        return 0;
    }

    /** The name of the promise that it breaks. */
    String invariant() {
        return invariant;
    }
}
