package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddPartitionsToTxnHandlerTest extends HandlerTestBase {
    private static final int FIRST_BATCHED_VERSION = 4;

    @ServedVersions(ApiKey.ADD_PARTITIONS_TO_TXN)
    void shouldAddThePartitionToTheTransaction(int version) throws Exception {
        Producer producer = startProducer();
        String topic = createTopic(1);

        assertThat(add(producer, topic, version)).isEqualTo(ErrorCode.NONE);

        produceInTransaction(producer, topic, 1);
    }

    @Test
    void shouldRefuseAPartitionWhenTheProducerIsNotTheOneOfTheTransactionalId() throws Exception {
        Producer producer = startProducer();
        Producer other = new Producer(producer.transactionalId(), producer.id() + 1_000_000, producer.epoch());

        for (int version : new int[] {0, 5}) {
            assertThat(add(other, createTopic(1), version)).isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
        }
    }

    private ErrorCode add(Producer producer, String topic, int version) throws Exception {
        List<AddPartitionsToTxnRequest.AddPartitionsToTxnTopic> topics =
                List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTopic()
                        .setName(topic)
                        .setPartitions(List.of(0)));
        AddPartitionsToTxnRequest request = version < FIRST_BATCHED_VERSION
                ? new AddPartitionsToTxnRequest()
                        .setV3AndBelowTransactionalId(producer.transactionalId())
                        .setV3AndBelowProducerId(producer.id())
                        .setV3AndBelowProducerEpoch(producer.epoch())
                        .setV3AndBelowTopics(topics)
                : new AddPartitionsToTxnRequest()
                        .setTransactions(List.of(new AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction()
                                .setTransactionalId(producer.transactionalId())
                                .setProducerId(producer.id())
                                .setProducerEpoch(producer.epoch())
                                .setTopics(topics)));
        AddPartitionsToTxnResponse response = call(AddPartitionsToTxnResponse.class, request, version);
        List<AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult> results = version < FIRST_BATCHED_VERSION
                ? response.resultsByTopicV3AndBelow()
                : response.resultsByTransaction().get(0).topicResults();
        assertThat(results.get(0).name()).isEqualTo(topic);
        return error(results.get(0).resultsByPartition().get(0).partitionErrorCode());
    }
}
