package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeTransactionsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_TRANSACTIONS)
    void shouldDescribeAnOngoingTransactionWithItsPartitions(int version) throws Exception {
        String topic = createTopic(1);
        Producer producer = beginTransaction(topic);

        DescribeTransactionsResponse.TransactionState state = describe(producer.transactionalId(), version);

        assertThat(error(state.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(state.transactionState()).isEqualTo("Ongoing");
        assertThat(state.producerId()).isEqualTo(producer.id());
        assertThat(state.topics()).singleElement().satisfies(part -> {
            assertThat(part.topic()).isEqualTo(topic);
            assertThat(part.partitions()).containsExactly(0);
        });
    }

    @Test
    void shouldReportAnErrorWhenTheTransactionalIdIsUnknownOrEmpty() throws Exception {
        assertThat(error(describe(newName(), 0).errorCode())).isEqualTo(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND);
        assertThat(error(describe("", 0).errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
    }

    @Test
    void shouldDescribeATransactionOnceWhenItIsNamedRepeatedly() throws Exception {
        String id = beginTransaction(createTopic(1)).transactionalId();

        DescribeTransactionsResponse response = call(
                DescribeTransactionsResponse.class,
                new DescribeTransactionsRequest().setTransactionalIds(List.of(id, id)),
                0);

        assertThat(response.transactionStates()).hasSize(1);
    }

    private DescribeTransactionsResponse.TransactionState describe(String transactionalId, int version)
            throws Exception {
        DescribeTransactionsRequest request =
                new DescribeTransactionsRequest().setTransactionalIds(List.of(transactionalId));
        DescribeTransactionsResponse.TransactionState state = call(DescribeTransactionsResponse.class, request, version)
                .transactionStates()
                .get(0);
        assertThat(state.transactionalId()).isEqualTo(transactionalId);
        return state;
    }
}
