package io.journalq.server.gateway.rest;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * One request to a {@link RestRoute}: its parameters and its body, calls of handlers, and the response. On the loop of the
 * connection.
 */
final class RestRequest {
    private static final String EXECUTE = "execute";

    private final HttpExchange exchange;
    private final JsonObject body;

    RestRequest(HttpExchange exchange, JsonObject body) {
        this.exchange = exchange;
        this.body = body;
    }

    HttpExchange exchange() {
        return exchange;
    }

    JsonObject body() {
        return body;
    }

    /** The time of the loop. */
    long nanoTime() {
        return exchange.cycle().loop().nanoTime();
    }

    /** A parameter of the path. */
    String path(String name) {
        return exchange.pathParameter(name);
    }

    /** Whether the request wants the change, and not a preview of it. */
    boolean executes() {
        return body.flag(EXECUTE);
    }

    /**
     * Calls the broker's handler of an API.
     *
     * @param next receives the response, on the loop of the connection, unless the request has ended
     */
    <T extends ApiMessage> void call(ApiKey api, int version, ApiMessage message, Class<T> type, Consumer<T> next) {
        exchange.call(api, version, message, 0, response -> {
            if (exchange.isClosed()) {
                return;
            }
            if (!type.isInstance(response)) {
                throw noResponse();
            }
            next.accept(type.cast(response));
        });
    }

    /**
     * Waits for a value.
     *
     * @param next receives it, on the loop of the connection, unless the request has ended
     */
    <T> void await(CompletionStage<T> stage, Consumer<T> next) {
        var unused = stage.whenComplete((value, failure) -> exchange.later(() -> {
            if (exchange.isClosed()) {
                return;
            }
            if (failure != null) {
                throw noResponse();
            }
            next.accept(value);
        }));
    }

    private static ProblemException noResponse() {
        return new Problem(ProblemType.INTERNAL_ERROR, "the broker gave no response", "see the broker's log")
                .exception();
    }

    /** Sends an object as the response. */
    void respond(JsonOut.Document members) {
        respond(HttpResponseStatus.OK, members);
    }

    /** Sends an object as the response. */
    void respond(HttpResponseStatus status, JsonOut.Document members) {
        exchange.respond(status, JsonOut.object(exchange.allocator(), members));
    }

    /** Sends a page of a list as the response. */
    <T> void respond(ListQuery.Page<T> page, ListQuery.ItemWriter<T> writer) {
        respond(page, writer, json -> {});
    }

    /** Sends a page of a list as the response, with other members before it. */
    <T> void respond(ListQuery.Page<T> page, ListQuery.ItemWriter<T> writer, JsonOut.Document more) {
        respond(json -> {
            more.write(json);
            json.writeNumberField("total", page.total());
            json.writeNumberField("matching", page.matching());
            json.writeArrayFieldStart("items");
            for (T item : page.items()) {
                json.writeStartObject();
                writer.write(json, item);
                json.writeEndObject();
            }
            json.writeEndArray();
            if (page.cursor() != null) {
                json.writeStringField("cursor", page.cursor());
            }
        });
    }

    /** The members that a body may have, with {@code execute}. */
    static List<String> orExecute(String... members) {
        List<String> all = new java.util.ArrayList<>(List.of(members));
        all.add(EXECUTE);
        return List.copyOf(all);
    }
}
