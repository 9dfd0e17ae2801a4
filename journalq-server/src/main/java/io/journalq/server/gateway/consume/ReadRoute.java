package io.journalq.server.gateway.consume;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.http.RouteDescription.Parameter;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@code GET /v1/topics/{topic}/records}: the records that exist now, as NDJSON. The last line has the cursor at which the
 * next request continues. Any thread.
 *
 * <ul>
 * <li>Where it begins: see {@link Start}. By default, at the start of the log.
 * <li>{@code limit=}: maximum number of records.
 * <li>{@code wait=}: time in ms to wait for a record if there is none.
 * </ul>
 */
public final class ReadRoute implements Route {
    private static final int DEFAULT_LIMIT = 1_000;
    private static final int MAX_LIMIT = 100_000;
    private static final int MAX_WAIT_MS = 30_000;
    private static final RouteDescription DESCRIPTION = RouteDescription.of("reads the records that exist now")
            .with(parameters())
            .responding(HttpResponseStatus.OK, ReadStream.NDJSON);

    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image */
    public ReadRoute(Supplier<MetadataImage> images) {
        this.images = images;
    }

    private static List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(Start.PARAMETERS);
        all.add(Parameter.optional("limit", "maximum number of records: at most 100,000, by default 1,000"));
        all.add(Parameter.optional(
                "wait", "if there is no record, wait for one up to this number of ms: at most 30,000"));
        return all;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
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
        exchange.checkQuota(QuotaKeys.FETCH_BYTES);
        Start start = Start.of(exchange, images.get(), Start.START);
        Long limit = Start.number(exchange, "limit", MAX_LIMIT);
        Long waitMs = Start.number(exchange, "wait", MAX_WAIT_MS);
        return new ReadStream(
                exchange,
                start,
                limit == null ? DEFAULT_LIMIT : limit.intValue(),
                waitMs == null ? 0 : waitMs.intValue());
    }
}
