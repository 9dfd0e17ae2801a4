package io.journalq.server.gateway.rest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.DescribeTransactionsRequest;
import io.journalq.common.protocol.message.DescribeTransactionsResponse;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.protocol.message.ListTransactionsRequest;
import io.journalq.common.protocol.message.ListTransactionsResponse;
import io.journalq.common.protocol.message.ListTransactionsResponse.TransactionState;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.gateway.rest.ListQuery.Field;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * {@code /v1/transactions}: the transactional ids that this broker coordinates, and the abort of their open
 * transactions. Stateless.
 */
final class TransactionRoutes {
    private static final int TRANSACTION_BYTES = 200;
    private static final int ABORT_TIMEOUT_MS = 60_000;

    /** States without an open transaction. */
    private static final Set<String> NOT_OPEN = Set.of("Empty", "CompleteCommit", "CompleteAbort");

    private static final ListQuery.Shape<TransactionState> TRANSACTIONS = new ListQuery.Shape<>(
            TransactionState::transactionalId,
            List.of(
                    Field.text("id", TransactionState::transactionalId),
                    Field.text("state", TransactionState::transactionState),
                    Field.number("producerId", TransactionState::producerId)),
            one -> TRANSACTION_BYTES + 2 * one.transactionalId().length());

    private TransactionRoutes() {}

    static List<Route> routes() {
        return List.of(
                RestRoute.get("/v1/transactions", ListQuery.description("lists transactions"), TransactionRoutes::list),
                RestRoute.get(
                        "/v1/transactions/{id}",
                        RouteDescription.of("describes a transaction"),
                        TransactionRoutes::describe),
                RestRoute.post(
                        "/v1/transactions/{id}/abort",
                        RouteDescription.of("aborts a transaction, with execute"),
                        "{\"execute\":false}",
                        TransactionRoutes::abort));
    }

    private static void list(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        request.call(
                ApiKey.LIST_TRANSACTIONS,
                1,
                new ListTransactionsRequest().setStateFilters(List.of()).setProducerIdFilters(List.of()),
                ListTransactionsResponse.class,
                response -> {
                    ProtocolErrors.check(response.errorCode(), null, "transactions");
                    ListQuery.Page<TransactionState> page = query.page(response.transactionStates(), TRANSACTIONS);
                    List<String> ids = page.items().stream()
                            .map(TransactionState::transactionalId)
                            .toList();
                    find(
                            request,
                            ids,
                            found -> request.respond(page, (json, one) -> {
                                DescribeTransactionsResponse.TransactionState state = found.get(one.transactionalId());
                                json.writeStringField("id", one.transactionalId());
                                json.writeStringField("state", one.transactionState());
                                json.writeNumberField("producerId", one.producerId());
                                if (state != null) {
                                    json.writeNumberField("producerEpoch", state.producerEpoch());
                                    json.writeNumberField("timeoutMs", state.transactionTimeoutMs());
                                    json.writeNumberField("started", startedMs(state));
                                }
                            }));
                });
    }

    private static void find(
            RestRequest request,
            List<String> ids,
            Consumer<Map<String, DescribeTransactionsResponse.TransactionState>> next) {
        if (ids.isEmpty()) {
            next.accept(Map.of());
            return;
        }
        DescribeTransactionsRequest message = new DescribeTransactionsRequest().setTransactionalIds(ids);
        request.call(ApiKey.DESCRIBE_TRANSACTIONS, 0, message, DescribeTransactionsResponse.class, response -> {
            Map<String, DescribeTransactionsResponse.TransactionState> found = new HashMap<>();
            response.transactionStates().forEach(state -> found.put(state.transactionalId(), state));
            next.accept(found);
        });
    }

    /** Finds the transactional id in the path, which must exist. */
    private static void find(RestRequest request, Consumer<DescribeTransactionsResponse.TransactionState> next) {
        String id = request.path("id");
        find(request, List.of(id), found -> {
            DescribeTransactionsResponse.TransactionState state = found.get(id);
            ProtocolErrors.check(state.errorCode(), null, "transactional id " + id);
            next.accept(state);
        });
    }

    /**
     * When the open transaction began; -1 for none. Coordinators keep the time of the last one while it is complete.
     */
    private static long startedMs(DescribeTransactionsResponse.TransactionState state) {
        return NOT_OPEN.contains(state.transactionState()) ? -1 : state.transactionStartTimeMs();
    }

    private static void describe(RestRequest request) {
        find(request, state -> request.respond(json -> write(json, state)));
    }

    private static void write(JsonGenerator json, DescribeTransactionsResponse.TransactionState state)
            throws IOException {
        json.writeStringField("id", state.transactionalId());
        json.writeStringField("state", state.transactionState());
        json.writeNumberField("producerId", state.producerId());
        json.writeNumberField("producerEpoch", state.producerEpoch());
        json.writeNumberField("timeoutMs", state.transactionTimeoutMs());
        json.writeNumberField("started", startedMs(state));
        json.writeArrayFieldStart("topics");
        for (DescribeTransactionsResponse.TopicData topic : state.topics()) {
            json.writeStartObject();
            json.writeStringField("topic", topic.topic());
            json.writeFieldName("partitions");
            json.writeArray(
                    TopicRoutes.ints(topic.partitions()), 0, topic.partitions().size());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Aborts the open transaction of an id, by fencing its producer. */
    private static void abort(RestRequest request) {
        request.body().checkMembers(RestRequest.orExecute());
        find(request, state -> {
            Runnable respond = () -> request.respond(json -> {
                write(json, state);
                json.writeBooleanField("executed", request.executes());
            });
            if (!request.executes()) {
                respond.run();
                return;
            }
            InitProducerIdRequest message = new InitProducerIdRequest()
                    .setTransactionalId(state.transactionalId())
                    .setTransactionTimeoutMs(
                            state.transactionTimeoutMs() > 0 ? state.transactionTimeoutMs() : ABORT_TIMEOUT_MS);
            request.call(ApiKey.INIT_PRODUCER_ID, 4, message, InitProducerIdResponse.class, response -> {
                ProtocolErrors.check(response.errorCode(), null, "transactional id " + state.transactionalId());
                respond.run();
            });
        });
    }
}
