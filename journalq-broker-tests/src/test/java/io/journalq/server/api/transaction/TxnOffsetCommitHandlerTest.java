package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class TxnOffsetCommitHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.TXN_OFFSET_COMMIT)
    void shouldHoldTheOffsetBackUntilTheTransactionEnds(int version) throws Exception {
        String group = newName();
        String topic = createTopic(1);
        Producer producer = startProducer();
        AddOffsetsToTxnRequest add = new AddOffsetsToTxnRequest()
                .setTransactionalId(producer.transactionalId())
                .setProducerId(producer.id())
                .setProducerEpoch(producer.epoch())
                .setGroupId(group);
        assertThat(error(call(AddOffsetsToTxnResponse.class, add, 3).errorCode()))
                .isEqualTo(ErrorCode.NONE);

        assertThat(commit(producer, group, topic, version)).isEqualTo(ErrorCode.NONE);

        assertThat(error(committedOffset(group, topic).errorCode())).isEqualTo(ErrorCode.UNSTABLE_OFFSET_COMMIT);
    }

    @Test
    void shouldRefuseAnOffsetWhenThereIsNoSuchPartitionOrProducer() throws Exception {
        assertThat(commit(startProducer(), newName(), newName(), 5)).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(commit(new Producer(newName(), 1, (short) 0), newName(), createTopic(1), 5))
                .isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
    }

    private ErrorCode commit(Producer producer, String group, String topic, int version) throws Exception {
        TxnOffsetCommitRequest request = new TxnOffsetCommitRequest()
                .setTransactionalId(producer.transactionalId())
                .setGroupId(group)
                .setProducerId(producer.id())
                .setProducerEpoch(producer.epoch())
                .setTopics(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic()
                        .setName(topic)
                        .setPartitions(List.of(new TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition()
                                .setPartitionIndex(0)
                                .setCommittedOffset(5)))));
        TxnOffsetCommitResponse response = call(TxnOffsetCommitResponse.class, request, version);
        assertThat(response.topics().get(0).name()).isEqualTo(topic);
        return error(response.topics().get(0).partitions().get(0).errorCode());
    }
}
