package io.journalq.server.gateway.consume;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * {@code GET /v1/topics/{topic}/search}: the records that contain a text, up to the end of the topic, as NDJSON with lines
 * of progress. See {@link RecordFilter} for what is found, and {@link Start} for where it begins; by default, at the start
 * of the log. A search ends when its client disconnects, and {@code cursor=} continues it. Any thread.
 */
public final class SearchRoute implements Route {
    /** Searches at a time in the whole broker, because each can keep a loop busy. */
    private static final int MAX_SEARCHES = 2;

    private static final int DEFAULT_LIMIT = 200;
    private static final int MAX_LIMIT = 10_000;
    private static final RouteDescription DESCRIPTION = RouteDescription.of(
                    "finds records that contain a text, and informs of its progress")
            .with(parameters())
            .responding(HttpResponseStatus.OK, ReadStream.NDJSON);

    private final Supplier<MetadataImage> images;
    private final AtomicInteger searches = new AtomicInteger();

    /** @param images supplies the newest image */
    public SearchRoute(Supplier<MetadataImage> images) {
        this.images = images;
    }

    private static List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(Start.PARAMETERS);
        all.addAll(RecordFilter.PARAMETERS);
        all.add(Parameter.optional("limit", "end after this number of records: at most 10,000, by default 200"));
        return all;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
    }

    @Override
    public String template() {
        return "/v1/topics/{topic}/search";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(DESCRIPTION);
        exchange.checkQuota(QuotaKeys.FETCH_BYTES);
        Start start = Start.of(exchange, images.get(), Start.START);
        RecordFilter filter = RecordFilter.of(exchange);
        Long limit = Start.number(exchange, "limit", MAX_LIMIT);
        if (searches.incrementAndGet() > MAX_SEARCHES) {
            searches.decrementAndGet();
            throw new Problem(
                            ProblemType.UNAVAILABLE,
                            MAX_SEARCHES + " searches run already",
                            "try again when one of them has ended")
                    .exception();
        }
        return new SearchStream(
                exchange, start, filter, limit == null ? DEFAULT_LIMIT : limit.intValue(), searches::decrementAndGet);
    }
}
