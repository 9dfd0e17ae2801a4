package io.journalq.server.api.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedVersions;
import io.journalq.server.control.NotControllerException;
import io.journalq.server.shard.coordinator.transaction.ProducerIds;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class InitProducerIdHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.INIT_PRODUCER_ID)
    void shouldGiveAProducerItsIdAndFenceThePreviousEpoch(int version) throws Exception {
        InitProducerIdResponse idempotent = init(null, version);
        assertThat(error(idempotent.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(idempotent.producerId()).isNotNegative();
        assertThat(idempotent.producerEpoch()).isZero();

        String transactionalId = newName();
        InitProducerIdResponse first = init(transactionalId, version);
        InitProducerIdResponse second = init(transactionalId, version);
        assertThat(error(second.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(second.producerId()).isEqualTo(first.producerId()).isNotEqualTo(idempotent.producerId());
        assertThat(second.producerEpoch()).isEqualTo((short) (first.producerEpoch() + 1));
    }

    @Test
    void shouldRefuseATransactionalIdWhenItIsEmpty() throws Exception {
        InitProducerIdResponse refused = init("", 5);

        assertThat(error(refused.errorCode())).isEqualTo(ErrorCode.INVALID_REQUEST);
        assertThat(refused.producerId()).isEqualTo(-1);
    }

    @Test
    void shouldLetAProducerRetryWhenThereIsNoController() {
        ProducerIds none = new ProducerIds(() -> CompletableFuture.failedFuture(
                new CompletionException(new NotControllerException("none is known at the moment"))));
        List<InitProducerIdResponse> responses = new ArrayList<>();
        RequestContext context = (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "grants" -> true;
                    case "respond" -> responses.add((InitProducerIdResponse) arguments[0]);
                    case "remoteAddress" -> null;
                    default -> throw new AssertionError("nobody asks for " + method.getName());
                });

        new InitProducerIdHandler(none, null, null)
                .handle(context, new InitProducerIdRequest().setTransactionalId(null));

        // COORDINATOR_NOT_AVAILABLE would let kafka-clients look for the coordinator of no id
        assertThat(responses).singleElement().satisfies(refused -> {
            assertThat(error(refused.errorCode())).isEqualTo(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS);
            assertThat(refused.producerId()).isEqualTo(-1);
        });
    }

    private InitProducerIdResponse init(String transactionalId, int version) throws Exception {
        InitProducerIdRequest request =
                new InitProducerIdRequest().setTransactionalId(transactionalId).setTransactionTimeoutMs(TIMEOUT_MS);
        return call(InitProducerIdResponse.class, request, version);
    }
}
