package io.journalq.server.gateway.history;

import io.journalq.common.protocol.ApiKey;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;

/**
 * {@code GET /v1/history}: the series of the last 15 minutes, or with {@code step=1m} of the last 24 hours. Immutable, any
 * thread.
 */
public final class HistoryRoute implements Route {
    private static final RouteDescription DESCRIPTION = RouteDescription.of(
                    "shows rates and states of this broker over time")
            .with(List.of(
                    Parameter.optional("step", "1s for the last 15 minutes (the default), 1m for the last 24 hours")));

    private final History history;

    public HistoryRoute(History history) {
        this.history = history;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
    }

    @Override
    public String template() {
        return "/v1/history";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(DESCRIPTION);
        exchange.checkRight(ApiKey.DESCRIBE_LOG_DIRS, Right.DESCRIBE_CLUSTER, AclResourceType.CLUSTER_NAME);
        String step = exchange.parameter("step");
        boolean perMinute = "1m".equals(step);
        if (step != null && !perMinute && !step.equals("1s")) {
            throw HttpExchange.invalid("there is no such step", "use step=1s or step=1m");
        }
        return new RequestBody() {
            @Override
            public void onData(ByteBuf data) {
                throw HttpExchange.invalid("a GET request has no body", "send the parameters behind the path");
            }

            @Override
            public void onEnd() {
                exchange.respond(
                        HttpResponseStatus.OK,
                        JsonOut.object(exchange.allocator(), json -> history.write(json, perMinute)));
            }

            @Override
            public void onClosed() {
                // Nothing is held.
            }
        };
    }
}
