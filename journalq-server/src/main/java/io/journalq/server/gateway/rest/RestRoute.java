package io.journalq.server.gateway.rest;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.ProblemException;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * A route whose requests and responses are small JSON objects. Immutable, any thread.
 *
 * @param method the method
 * @param template the path, with parameters in braces
 * @param description what it does and takes
 * @param operation serves a request, on the loop of its connection
 */
record RestRoute(HttpMethod method, String template, RouteDescription description, Operation operation)
        implements Route {
    /** What a client can do whose body is invalid. */
    static final String REMEDY = "see docs/guides/http-operations.md for an example";

    /** Maximum size of the body of a request. */
    private static final int MAX_BODY_BYTES = 1024 * 1024;

    /** Serves a request whose body is complete. */
    @FunctionalInterface
    interface Operation {
        /**
         * Serves a request.
         *
         * @throws io.journalq.server.gateway.problem.ProblemException if the request is refused
         */
        void run(RestRequest request);
    }

    static RestRoute get(String template, RouteDescription description, Operation operation) {
        return new RestRoute(HttpMethod.GET, template, description, operation);
    }

    /** @param example a body that works */
    static RestRoute post(String template, RouteDescription description, String example, Operation operation) {
        return new RestRoute(HttpMethod.POST, template, withBody(description, example), operation);
    }

    /** @param example a body that works */
    static RestRoute patch(String template, RouteDescription description, String example, Operation operation) {
        return new RestRoute(HttpMethod.PATCH, template, withBody(description, example), operation);
    }

    static RestRoute delete(String template, RouteDescription description, Operation operation) {
        return new RestRoute(HttpMethod.DELETE, template, description, operation);
    }

    private static RouteDescription withBody(RouteDescription description, String example) {
        return description.withBody(RouteDescription.JSON, example);
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(description);
        if (exchange.bodyLength() > MAX_BODY_BYTES) {
            throw tooLarge();
        }
        return new Body(exchange);
    }

    private static ProblemException tooLarge() {
        return JsonObject.invalid("it is larger than 1 MiB", REMEDY);
    }

    /** Collects the body. On the connection's loop. */
    private final class Body implements RequestBody {
        private final HttpExchange exchange;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(0);

        Body(HttpExchange exchange) {
            this.exchange = exchange;
        }

        /** For the body, and its buffer while it grows. */
        @Override
        public long reservedBytes() {
            long length = exchange.bodyLength();
            return 2 * (length == HttpExchange.UNKNOWN_LENGTH ? MAX_BODY_BYTES : length);
        }

        @Override
        public void onData(ByteBuf data) {
            if (method.equals(HttpMethod.GET)) {
                throw HttpExchange.invalid("a GET request has no body", "send the parameters behind the path");
            }
            if (bytes.size() + data.readableBytes() > MAX_BODY_BYTES) {
                throw tooLarge();
            }
            try {
                data.getBytes(data.readerIndex(), bytes, data.readableBytes());
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }

        @Override
        public void onEnd() {
            operation.run(new RestRequest(exchange, JsonObject.parse(bytes.toByteArray(), REMEDY)));
        }

        @Override
        public void onClosed() {
            // Nothing but heap is held.
        }
    }
}
