package io.journalq.server.gateway.console;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executor;

/** {@code GET /} and {@code GET /console/{file}}: the files of the web console. Immutable, any thread. */
public final class ConsoleRoute implements Route {
    private static final String INDEX = "index.html";

    /** The console loads everything from this broker, and no page of another origin may frame it. */
    private static final String POLICY = "default-src 'self'; frame-ancestors 'none'";

    private static final RouteDescription DESCRIPTION = RouteDescription.of("shows the web console");

    private final ConsoleFiles files;
    private final String template;

    private ConsoleRoute(ConsoleFiles files, String template) {
        this.files = files;
        this.template = template;
    }

    /**
     * Creates the routes.
     *
     * @param blockingPool reads the files
     */
    public static List<Route> all(Executor blockingPool) {
        ConsoleFiles files = new ConsoleFiles(blockingPool);
        return List.of(new ConsoleRoute(files, "/"), new ConsoleRoute(files, "/console/{file}"));
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
    }

    @Override
    public String template() {
        return template;
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        return new RequestBody() {
            @Override
            public void onData(ByteBuf data) {
                throw HttpExchange.invalid("a GET request has no body", "leave it out");
            }

            @Override
            public void onEnd() {
                var unused = files.all()
                        .whenComplete((found, failure) -> exchange.later(() -> {
                            if (!exchange.isClosed()) {
                                if (failure != null) {
                                    throw unreadable();
                                }
                                respond(exchange, found);
                            }
                        }));
            }

            @Override
            public void onClosed() {
                // Nothing is held.
            }
        };
    }

    private static ProblemException unreadable() {
        return new Problem(
                        ProblemType.UNAVAILABLE,
                        "the files of the console cannot be read now",
                        "try again; see the broker's log if this continues")
                .exception();
    }

    private static void respond(HttpExchange exchange, Map<String, ConsoleFiles.File> found) {
        String name = exchange.pathParameter("file");
        ConsoleFiles.File file = found.get(name == null ? INDEX : name);
        if (file == null) {
            throw new Problem(
                            ProblemType.NO_SUCH_RESOURCE,
                            found.isEmpty() ? "the console is not on the class path" : "the console has no such file",
                            found.isEmpty() ? "add journalq-console, or use the routes below /v1" : "open /")
                    .exception();
        }
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put(HttpHeaderNames.CONTENT_SECURITY_POLICY.toString(), POLICY);
        headers.put(HttpHeaderNames.CACHE_CONTROL.toString(), "no-cache");
        headers.put(HttpHeaderNames.ETAG.toString(), file.tag());
        headers.put(HttpHeaderNames.VARY.toString(), HttpHeaderNames.ACCEPT_ENCODING.toString());
        headers.put("Referrer-Policy", "no-referrer");
        if (file.tag().equals(exchange.header(HttpHeaderNames.IF_NONE_MATCH.toString()))) {
            exchange.respond(HttpResponseStatus.NOT_MODIFIED, file.type(), Unpooled.EMPTY_BUFFER, headers);
            return;
        }
        boolean gzip = takesGzip(exchange.request().headers().getAll(HttpHeaderNames.ACCEPT_ENCODING));
        if (gzip) {
            headers.put(HttpHeaderNames.CONTENT_ENCODING.toString(), "gzip");
        }
        exchange.respond(HttpResponseStatus.OK, file.type(), file.encoded(gzip), headers);
    }

    /** Whether a client takes gzip. One that gives it the weight 0 does not (RFC 9110, section 12.4.2). */
    static boolean takesGzip(List<String> accepted) {
        return accepted.stream()
                .flatMap(header -> Arrays.stream(header.toLowerCase(Locale.ROOT).split(",", -1)))
                .map(coding -> coding.replaceAll("\\s", ""))
                .anyMatch(coding ->
                        coding.equals("gzip") || (coding.startsWith("gzip;") && !coding.matches("gzip;q=0(\\.0*)?")));
    }
}
