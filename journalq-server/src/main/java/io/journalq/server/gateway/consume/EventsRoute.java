package io.journalq.server.gateway.consume;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * {@code GET /v1/topics/{topic}/events}: the records of a topic as they are appended, as server-sent events. See {@link
 * Start} for where it begins; by default, at the end of the log. {@code Last-Event-ID} continues an earlier stream. Any
 * thread.
 */
public final class EventsRoute implements Route {
    private static final RouteDescription DESCRIPTION = RouteDescription.of(
                    "sends records as they are appended, as server-sent events")
            .with(Start.PARAMETERS)
            .responding(HttpResponseStatus.OK, SseStream.TYPE);

    private final Supplier<MetadataImage> images;
    private final Map<LoopCycle, EventGroups> groups = new ConcurrentHashMap<>();

    /** @param images supplies the newest image */
    public EventsRoute(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
    }

    @Override
    public String template() {
        return "/v1/topics/{topic}/events";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(DESCRIPTION);
        exchange.checkQuota(QuotaKeys.FETCH_BYTES);
        return new SseStream(
                exchange,
                Start.afterLastEvent(exchange, images.get(), Start.END),
                images,
                groups.computeIfAbsent(exchange.cycle(), loop -> new EventGroups()));
    }
}
