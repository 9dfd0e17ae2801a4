package io.journalq.server.gateway.confluent;

import io.journalq.server.gateway.http.ErrorForm;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.produce.Targets;
import io.journalq.server.metadata.MetadataImage;
import io.netty.handler.codec.http.HttpMethod;
import java.util.function.Supplier;

/**
 * {@code POST /v3/clusters/{cluster}/topics/{topic}/records}: appends records as Confluent's REST proxy does (API v3). The body
 * is any number of JSON objects one behind the other. Each is appended as it arrives, and has its own result in the response.
 * The id of the cluster is not checked, as in that proxy. Immutable, any thread.
 *
 * @param targets finds the topics
 * @param images supplies the newest image
 */
public record ProduceV3Route(Targets targets, Supplier<MetadataImage> images) implements Route {
    private static final RouteDescription DESCRIPTION = RouteDescription.of(
                    "appends records as they arrive, as Confluent's REST proxy (v3)")
            .withBody(
                    RouteDescription.JSON,
                    "{\"key\":{\"type\":\"STRING\",\"data\":\"k1\"},\"value\":{\"type\":\"JSON\",\"data\":{\"item\":\"tea\"}}}");
    private static final ErrorForm ERRORS = new ConfluentErrors(RouteDescription.JSON);

    @Override
    public HttpMethod method() {
        return HttpMethod.POST;
    }

    @Override
    public String template() {
        return "/v3/clusters/{cluster}/topics/{topic}/records";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public ErrorForm errors() {
        return ERRORS;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        if (!exchange.bodyType().equals(RouteDescription.JSON)) {
            throw new Problem(
                            ProblemType.UNSUPPORTED_MEDIA_TYPE,
                            "the Content-Type is not " + RouteDescription.JSON,
                            "send " + RouteDescription.JSON)
                    .exception();
        }
        Targets.Target target = targets.find(exchange, exchange.pathParameter("topic"));
        return new RecordStream(exchange, target, images.get().clusterId());
    }
}
