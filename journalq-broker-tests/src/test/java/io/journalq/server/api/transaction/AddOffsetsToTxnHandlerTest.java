package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddOffsetsToTxnHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.ADD_OFFSETS_TO_TXN)
    void shouldBeginATransactionWithTheOffsetsOfAGroup(int version) throws Exception {
        Producer producer = startProducer();

        assertThat(add(producer, version)).isEqualTo(ErrorCode.NONE);

        DescribeTransactionsResponse described = call(
                DescribeTransactionsResponse.class,
                new DescribeTransactionsRequest().setTransactionalIds(List.of(producer.transactionalId())),
                0);
        assertThat(described.transactionStates().get(0).topics())
                .singleElement()
                .satisfies(topic -> assertThat(topic.topic()).isEqualTo("__consumer_offsets"));
    }

    @Test
    void shouldRefuseAProducerWhenItsTransactionalIdIsUnknown() throws Exception {
        assertThat(add(new Producer(newName(), 1, (short) 0), 4)).isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
    }

    private ErrorCode add(Producer producer, int version) throws Exception {
        AddOffsetsToTxnRequest request = new AddOffsetsToTxnRequest()
                .setTransactionalId(producer.transactionalId())
                .setProducerId(producer.id())
                .setProducerEpoch(producer.epoch())
                .setGroupId(newName());
        return error(call(AddOffsetsToTxnResponse.class, request, version).errorCode());
    }
}
