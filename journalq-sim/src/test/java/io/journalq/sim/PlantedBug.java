package io.journalq.sim;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.common.protocol.message.EndTxnRequest;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.common.protocol.message.OffsetFetchResponse;
import io.journalq.common.protocol.message.ProduceResponse;
import io.journalq.common.record.Crc32c;
import io.journalq.common.record.RecordBatch;
import io.journalq.sim.disk.SimDisk;
import io.journalq.sim.disk.SimDisk.Damage;
import io.journalq.sim.world.Interference;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;

/** Defects that a broker could have, and the guarantee that each of them breaks. */
enum PlantedBug implements Interference {
    KEEPS_LESS_THAN_ASKED("NothingAcknowledgedIsLost") {
        @Override
        public ApiMessage onRequest(ApiMessage request) {
            return withConfig(request, "delivery.mode", "eventual", "flush.interval.ms", "600000");
        }
    },
    DELETES_TOO_EARLY("NothingAcknowledgedIsLost") {
        @Override
        public ApiMessage onRequest(ApiMessage request) {
            return withConfig(request, "retention.ms", "1", "segment.bytes", "1024");
        }
    },
    DELETES_TOO_MUCH("RecordsAreRemovedOnlyAsConfigured") {
        @Override
        long firstSeed() {
            return 30;
        }

        @Override
        public ApiMessage onRequest(ApiMessage request) {
            return withConfig(request, "retention.bytes", "1");
        }
    },
    LEAVES_A_BATCH_OUT("NothingAcknowledgedIsLost") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            return withRecords(message, batches -> {
                int second = RecordBatch.sizeBytes(batches, 0);
                if (last(batches) <= second) {
                    return batches;
                }
                int third = second + RecordBatch.sizeBytes(batches, second);
                return Unpooled.copiedBuffer(
                        batches.slice(0, second), batches.slice(third, batches.readableBytes() - third));
            });
        }
    },
    STARTS_WAITING_FETCHES_TOO_LATE("ConsumersSkipNothing") {
        @Override
        public ApiMessage onRequest(ApiMessage request) {
            if (request instanceof FetchRequest fetch && fetch.maxWaitMs() > 0) {
                FetchRequest.FetchPartition wanted =
                        fetch.topics().get(0).partitions().get(0);
                wanted.setFetchOffset(wanted.fetchOffset() + 1);
            }
            return request;
        }
    },
    LETS_FETCHES_WAIT("EveryRequestGetsAResponse") {
        @Override
        public ApiMessage onRequest(ApiMessage request) {
            return request instanceof FetchRequest fetch && fetch.maxWaitMs() > 0
                    ? fetch.setMaxWaitMs(600_000)
                    : request;
        }
    },
    GIVES_AN_OFFSET_TWICE("OffsetsKeepTheirContent") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof ProduceResponse response) {
                ProduceResponse.PartitionProduceResponse data =
                        response.responses().get(0).partitionResponses().get(0);
                data.setBaseOffset(data.baseOffset() / 7 * 7);
            }
            return message;
        }
    },
    APPENDS_TWICE("RecordsAreNotDuplicated") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            return withRecords(message, batches -> {
                int last = last(batches);
                long next = RecordBatch.nextOffset(batches, last);
                ByteBuf twice = Unpooled.copiedBuffer(batches, batches.slice(last, batches.readableBytes() - last));
                RecordBatch.setBaseOffset(twice, batches.readableBytes(), next);
                return twice;
            });
        }
    },
    CHANGES_A_RECORD("CorruptionIsNeverServed") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            return withRecords(message, batches -> {
                int sizeBytes = RecordBatch.sizeBytes(batches, 0);
                if (RecordBatch.compressionId(batches, 0) == 0 && !RecordBatch.isControl(batches, 0)) {
                    batches.setByte(sizeBytes - 4, batches.getByte(sizeBytes - 4) ^ 1);
                    int crc = Crc32c.compute(batches, RecordBatch.ATTRIBUTES, sizeBytes - RecordBatch.ATTRIBUTES);
                    RecordBatch.setCrc(batches, 0, crc);
                }
                return batches;
            });
        }
    },
    CANNOT_READ("EverythingIsReadable") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof FetchResponse response) {
                partition(response).setErrorCode(ErrorCode.KAFKA_STORAGE_ERROR.code());
            }
            return message;
        }
    },
    SHOWS_WHAT_WAS_ABORTED("OnlyCommittedRecordsAreVisible") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof FetchResponse response) {
                partition(response).setAbortedTransactions(List.of());
            }
            return message;
        }
    },
    ABORTS_WHAT_WAS_COMMITTED("TransactionsAreWhole") {
        @Override
        public ApiMessage onRequest(ApiMessage request) {
            return request instanceof EndTxnRequest end ? end.setCommitted(false) : request;
        }
    },
    TURNS_THE_START_BACK("LogStartNeverMovesBack") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof FetchResponse response && partition(response).highWatermark() % 2 == 0) {
                partition(response).setLogStartOffset(0);
            }
            return message;
        }
    },
    DELETES_NOTHING("LogStartNeverMovesBack") {
        @Override
        public ApiMessage forge(ApiMessage request) {
            if (!(request instanceof DeleteRecordsRequest delete)) {
                return null;
            }
            long offset = delete.topics().get(0).partitions().get(0).offset();
            return new DeleteRecordsResponse()
                    .setTopics(List.of(new DeleteRecordsResponse.DeleteRecordsTopicResult()
                            .setPartitions(List.of(new DeleteRecordsResponse.DeleteRecordsPartitionResult()
                                    .setLowWatermark(offset)))));
        }
    },
    KEEPS_A_DELETED_TOPIC("TopicsAreKept") {
        @Override
        public ApiMessage forge(ApiMessage request) {
            return request instanceof DeleteTopicsRequest
                    ? new DeleteTopicsResponse().setResponses(List.of(new DeleteTopicsResponse.DeletableTopicResult()))
                    : null;
        }
    },
    FORGETS_COMMITS("CommitsAreKept") {
        @Override
        public ApiMessage forge(ApiMessage request) {
            return request instanceof OffsetCommitRequest ? committed() : null;
        }
    },
    INVENTS_COMMITS("NoCommitBeyondTheData") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof OffsetFetchResponse response
                    && response.groups().get(0).errorCode() == 0) {
                response.groups().get(0).topics().get(0).partitions().get(0).setCommittedOffset(1_000_000);
            }
            return message;
        }
    },
    TAKES_COMMITS_OF_THE_FENCED("GroupMembersAgree") {
        /** A fenced member's commit occurs in four of 1,000 seeds. */
        @Override
        long firstSeed() {
            return 330;
        }

        @Override
        public ApiMessage onResponse(ApiMessage message) {
            return message instanceof OffsetCommitResponse ? committed() : message;
        }
    },
    GIVES_A_PRODUCER_ID_TWICE("ProducerIdsAreUnique") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            return message instanceof InitProducerIdResponse response
                    ? response.setProducerId(response.producerId() / 2 * 2)
                    : message;
        }
    },
    CUTS_BEHIND_DAMAGE("DamageIsContained") {
        /** Damage far before the end of a file occurs in 14 of 1,000 seeds. */
        @Override
        long firstSeed() {
            return 160;
        }

        @Override
        public void onDamage(SimDisk disk, Damage damage) {
            if (damage.file().toString().endsWith(".log")) {
                disk.cut(damage.file(), damage.position());
            }
        }
    },
    RECORDS_NO_CUTS("NothingTruncatedComesBack") {
        @Override
        public boolean recordsCuts() {
            return false;
        }
    },
    DROPS_DAMAGE_SILENTLY("DamageIsReported") {
        @Override
        public boolean logs(String message) {
            return false;
        }
    },
    FORGETS_A_PRODUCER("ValidProducersAreServed") {
        @Override
        public ApiMessage onResponse(ApiMessage message) {
            if (message instanceof ProduceResponse response) {
                ProduceResponse.PartitionProduceResponse data =
                        response.responses().get(0).partitionResponses().get(0);
                if (data.baseOffset() > 10) {
                    data.setErrorCode(ErrorCode.UNKNOWN_PRODUCER_ID.code()).setBaseOffset(-1);
                }
            }
            return message;
        }
    };

    private final String invariant;

    PlantedBug(String invariant) {
        this.invariant = invariant;
    }

    /** The first seed to try. A rare bug begins near one of the seeds that show it, to save time. */
    long firstSeed() {
        return 0;
    }

    /** The name of the guarantee that it breaks. */
    String invariant() {
        return invariant;
    }

    private interface Change {
        ByteBuf of(ByteBuf batches);
    }

    private static FetchResponse.PartitionData partition(FetchResponse response) {
        return response.responses().get(0).partitions().get(0);
    }

    private static ApiMessage committed() {
        return new OffsetCommitResponse()
                .setTopics(List.of(new OffsetCommitResponse.OffsetCommitResponseTopic()
                        .setPartitions(List.of(new OffsetCommitResponse.OffsetCommitResponsePartition()))));
    }

    /** Changes the settings of a topic that is created. Compacted topics keep theirs. */
    private static ApiMessage withConfig(ApiMessage request, String... namesAndValues) {
        if (request instanceof CreateTopicsRequest create) {
            List<CreateTopicsRequest.CreatableTopicConfig> configs =
                    create.topics().get(0).configs();
            boolean compacted =
                    configs.stream().anyMatch(config -> config.name().equals("cleanup.policy"));
            for (int i = 0; i < namesAndValues.length && !compacted; i += 2) {
                String name = namesAndValues[i];
                configs.removeIf(config -> config.name().equals(name));
                configs.add(new CreateTopicsRequest.CreatableTopicConfig()
                        .setName(name)
                        .setValue(namesAndValues[i + 1]));
            }
        }
        return request;
    }

    /** Changes a copy of the records, if the response has any. */
    private static ApiMessage withRecords(ApiMessage message, Change change) {
        if (message instanceof FetchResponse response) {
            RecordsData records = partition(response).records();
            ByteBuf batches = records == null ? null : records.buffer();
            if (batches != null && batches.isReadable()) {
                ByteBuf copy = Unpooled.copiedBuffer(batches);
                records.release();
                partition(response).setRecords(RecordsData.of(change.of(copy)));
            }
        }
        return message;
    }

    /** Position of the last batch. */
    private static int last(ByteBuf batches) {
        int at = 0;
        while (at + RecordBatch.sizeBytes(batches, at) < batches.readableBytes()) {
            at += RecordBatch.sizeBytes(batches, at);
        }
        return at;
    }
}
