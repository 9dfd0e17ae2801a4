package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListTransactionsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.LIST_TRANSACTIONS)
    void shouldListTheTransactionsOfAProducer(int version) throws Exception {
        Producer producer = beginTransaction(createTopic(1));
        ListTransactionsRequest request = new ListTransactionsRequest()
                .setProducerIdFilters(List.of(producer.id()))
                .setStateFilters(List.of("Ongoing", "Surprised"));

        ListTransactionsResponse response = call(ListTransactionsResponse.class, request, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.unknownStateFilters()).containsExactly("Surprised");
        assertThat(response.transactionStates()).singleElement().satisfies(state -> {
            assertThat(state.transactionalId()).isEqualTo(producer.transactionalId());
            assertThat(state.transactionState()).isEqualTo("Ongoing");
        });
    }

    @Test
    void shouldReportAnErrorWhenThePatternIsMalformed() throws Exception {
        ListTransactionsRequest request = new ListTransactionsRequest().setTransactionalIdPattern("(");

        assertThat(error(call(ListTransactionsResponse.class, request, 2).errorCode()))
                .isEqualTo(ErrorCode.INVALID_REGULAR_EXPRESSION);
    }
}
