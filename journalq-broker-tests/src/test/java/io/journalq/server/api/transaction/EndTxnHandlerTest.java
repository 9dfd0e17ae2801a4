package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class EndTxnHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_EPOCHS = 5;

    @ServedVersions(ApiKey.END_TXN)
    void shouldCommitTheTransaction(int version) throws Exception {
        String topic = createTopic(1);
        Producer producer = beginTransaction(topic);
        produceInTransaction(producer, topic, 1);

        EndTxnResponse response = end(producer, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        if (version >= FIRST_VERSION_WITH_EPOCHS) {
            assertThat(response.producerId()).isEqualTo(producer.id());
            assertThat(response.producerEpoch()).isEqualTo((short) (producer.epoch() + 1));
        }
    }

    @Test
    void shouldRefuseAProducerWhenItIsFenced() throws Exception {
        Producer producer = beginTransaction(createTopic(1));
        Producer older = new Producer(producer.transactionalId(), producer.id(), (short) (producer.epoch() - 1));

        assertThat(error(end(older, 5).errorCode())).isEqualTo(ErrorCode.PRODUCER_FENCED);
        assertThat(error(end(new Producer(newName(), 1, (short) 0), 5).errorCode()))
                .isEqualTo(ErrorCode.INVALID_PRODUCER_ID_MAPPING);
    }

    private EndTxnResponse end(Producer producer, int version) throws Exception {
        EndTxnRequest request = new EndTxnRequest()
                .setTransactionalId(producer.transactionalId())
                .setProducerId(producer.id())
                .setProducerEpoch(producer.epoch())
                .setCommitted(true);
        return call(EndTxnResponse.class, request, version);
    }
}
