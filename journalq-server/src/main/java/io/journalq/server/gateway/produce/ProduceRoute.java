package io.journalq.server.gateway.produce;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.netty.handler.codec.http.HttpMethod;
import java.util.List;

/**
 * {@code POST /v1/topics/{topic}/records}: appends records. The type of the body decides its format:
 *
 * <ul>
 * <li>{@code application/json}: {@code {"records": [...]}}. Nothing is appended unless all of it parses.
 * <li>{@code application/x-ndjson}: a record in each line. Records are appended as they arrive.
 * <li>{@code application/vnd.journalq.batch}: record batches for one partition. Each is appended when it is complete.
 * <li>{@code application/cloudevents+json}, {@code application/cloudevents-batch+json}, or any type with the header {@code
 *     ce-specversion}: CloudEvents.
 * <li>Any other type, or {@code format=raw}: the body is the value of one record, and headers describe the rest.
 * </ul>
 *
 * <p>With a {@link ProducerToken}, a request that is repeated is appended once.
 *
 * <p>Any thread.
 */
public final class ProduceRoute implements Route {
    private static final String JSON = "application/json";
    private static final String NDJSON = "application/x-ndjson";
    private static final String EVENT_VERSION = "ce-specversion";
    private static final String RAW = "raw";
    private static final RouteDescription DESCRIPTION = RouteDescription.of("appends records")
            .with(List.of(Parameter.optional("format", "raw for a body that is one value, whatever its type is")))
            .withBody(JSON, "{\"records\":[{\"key\":\"k1\",\"value\":{\"item\":\"coffee\"}}]}")
            .withBody(NDJSON, "{\"value\":\"coffee\"}\n{\"value\":\"tea\"}\n")
            .withBody("application/octet-stream", "one coffee")
            .withBody(BatchBody.TYPE, "")
            .withBody(
                    CloudEventsBody.TYPE,
                    "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/shop\",\"type\":\"order\",\"data\":{\"item\":\"coffee\"}}")
            .withBody(
                    CloudEventsBody.BATCH_TYPE,
                    "[{\"specversion\":\"1.0\",\"id\":\"2\",\"source\":\"/shop\",\"type\":\"order\",\"data\":\"tea\"}]");

    private final Targets targets;

    /** @param targets finds the topics */
    public ProduceRoute(Targets targets) {
        this.targets = targets;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.POST;
    }

    @Override
    public String template() {
        return "/v1/topics/{topic}/records";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(DESCRIPTION);
        Targets.Target found = targets.find(exchange, exchange.pathParameter("topic"));
        String format = exchange.parameter("format");
        if (format != null && !format.equals(RAW)) {
            throw HttpExchange.invalid("unknown format", "use format=raw, or leave it out");
        }
        String type = exchange.bodyType();
        if (format == null && type.equals(NDJSON)) {
            ProducerToken.refuse(exchange, "send application/json, whose records are appended together");
            return new RecordsBody(exchange, found, true);
        }
        if (format == null && type.equals(BatchBody.TYPE)) {
            ProducerToken.refuse(exchange, "send batches that carry their producer id, epoch and sequence number");
            return new BatchBody(exchange, found);
        }
        Targets.Target target = found.of(ProducerToken.of(exchange));
        if (format == null && exchange.header(EVENT_VERSION) != null) {
            return RawBody.ofCloudEvent(exchange, target);
        }
        if (format == null && type.equals(JSON)) {
            return new RecordsBody(exchange, target, false);
        }
        if (format == null && (type.equals(CloudEventsBody.TYPE) || type.equals(CloudEventsBody.BATCH_TYPE))) {
            return new CloudEventsBody(exchange, target, type.equals(CloudEventsBody.BATCH_TYPE));
        }
        return new RawBody(exchange, target);
    }
}
