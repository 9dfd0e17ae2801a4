package io.journalq.server.gateway.websocket;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.produce.Targets;
import io.journalq.server.metadata.MetadataImage;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.function.Supplier;

/**
 * {@code GET /v1/ws}: opens a WebSocket. The client offers one of the subprotocols of {@link WebSocketSession}. The
 * checks of all requests apply, also that of {@code Origin}. Any thread.
 *
 * <p>Source: RFC 6455, section 4.2.
 */
public final class WebSocketRoute implements Route {
    private static final String VERSION = "13";
    private static final String ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final int KEY_BYTES = 16;

    private static final RouteDescription DESCRIPTION = RouteDescription.of(
                    "opens a WebSocket, which carries records in both directions")
            .responding(HttpResponseStatus.SWITCHING_PROTOCOLS, null);

    private final Supplier<MetadataImage> images;
    private final Targets targets;

    /**
     * Creates the route.
     *
     * @param images supplies the newest image
     * @param targets finds the topics of appended records
     */
    public WebSocketRoute(Supplier<MetadataImage> images, Targets targets) {
        this.images = images;
        this.targets = targets;
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
    }

    @Override
    public String template() {
        return "/v1/ws";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(DESCRIPTION);
        boolean asksForWebSocket = exchange.request().protocolVersion().equals(HttpVersion.HTTP_1_1)
                && hasToken(exchange, HttpHeaderNames.CONNECTION, "upgrade")
                && hasToken(exchange, HttpHeaderNames.UPGRADE, "websocket");
        if (!asksForWebSocket || !VERSION.equals(exchange.header("Sec-WebSocket-Version"))) {
            throw new Problem(
                            ProblemType.UPGRADE_REQUIRED,
                            "the request does not ask for a WebSocket of version 13",
                            "use a WebSocket client",
                            Map.of("Upgrade", "websocket", "Sec-WebSocket-Version", VERSION))
                    .exception();
        }
        String key = key(exchange);
        String protocol = WebSocketSession.PROTOCOLS.stream()
                .filter(each -> hasToken(exchange, HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, each))
                .findFirst()
                .orElseThrow(() -> HttpExchange.invalid(
                        "the client offers no subprotocol that the broker speaks",
                        "offer one of " + String.join(", ", WebSocketSession.PROTOCOLS)));
        Map<String, String> headers = Map.of(
                "Upgrade",
                "websocket",
                "Connection",
                "Upgrade",
                "Sec-WebSocket-Accept",
                accept(key),
                "Sec-WebSocket-Protocol",
                protocol);
        return new WebSocketSession(exchange, images, targets, headers, protocol);
    }

    private static boolean hasToken(HttpExchange exchange, CharSequence header, String token) {
        return exchange.request().headers().containsValue(header, token, true);
    }

    private static String key(HttpExchange exchange) {
        String key = exchange.header("Sec-WebSocket-Key");
        try {
            if (key != null && Base64.getDecoder().decode(key).length == KEY_BYTES) {
                return key;
            }
        } catch (IllegalArgumentException malformed) {
            throw invalidKey();
        }
        throw invalidKey();
    }

    private static ProblemException invalidKey() {
        return HttpExchange.invalid("Sec-WebSocket-Key is not 16 bytes in Base64", "use a WebSocket client");
    }

    /** Proves to the client that the broker has understood the request. SHA-1 protects nothing here. */
    private static String accept(String key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1")
                    .digest((key + ACCEPT_SUFFIX).getBytes(StandardCharsets.US_ASCII));
            return Base64.getEncoder().encodeToString(hash);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
