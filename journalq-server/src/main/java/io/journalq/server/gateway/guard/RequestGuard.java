package io.journalq.server.gateway.guard;

import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.network.AllowedHosts;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Checks the head of a request. Immutable.
 *
 * <ul>
 * <li>Framing: a request whose end two readers could see at different places is refused (request smuggling, RFC 9112
 *     section 6.1).
 * <li>Host: a DNS rebinding attack sends the name of the attacker's page.
 * <li>Origin and type of the body: a foreign web page can make a browser send forms, and plain text, without asking the
 *     server first.
 * </ul>
 */
public final class RequestGuard {
    private static final Set<String> FORM_TYPES =
            Set.of("application/x-www-form-urlencoded", "multipart/form-data", "text/plain");
    private static final String CHUNKED = "chunked";
    private static final int MAX_LENGTH_DIGITS = 18;

    private final AllowedHosts hosts;
    private final OriginRule origins;

    public RequestGuard(AllowedHosts hosts, OriginRule origins) {
        this.hosts = hosts;
        this.origins = origins;
    }

    /**
     * Checks a request.
     *
     * @throws ProblemException if the request is refused; if {@link #isFramed} is false for it, the rest of the
     *     connection must not be read
     */
    public void check(HttpRequest request) {
        if (!isFramed(request)) {
            throw malformed(
                    "the length of the body is ambiguous",
                    "send either one Content-Length or Transfer-Encoding: chunked");
        }
        if (!request.uri().startsWith("/")) {
            throw malformed("the request target must be a path", "send the path, and the host in the Host header");
        }
        String host = checkHost(request);
        if (changesSomething(request.method())) {
            checkOrigin(request.headers(), host);
            checkType(request.headers());
        } else if (request.headers().contains(HttpHeaderNames.UPGRADE)) {
            checkOrigin(request.headers(), host); // A WebSocket can change something.
        }
    }

    /** Whether the end of the request is certain. */
    public static boolean isFramed(HttpRequest request) {
        HttpHeaders headers = request.headers();
        List<String> lengths = headers.getAll(HttpHeaderNames.CONTENT_LENGTH);
        List<String> encodings = headers.getAll(HttpHeaderNames.TRANSFER_ENCODING);
        if (!encodings.isEmpty()) {
            return lengths.isEmpty()
                    && encodings.size() == 1
                    && encodings.get(0).strip().equalsIgnoreCase(CHUNKED)
                    && request.protocolVersion().equals(HttpVersion.HTTP_1_1);
        }
        return lengths.isEmpty() || (lengths.size() == 1 && isNumber(lengths.get(0)));
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty()
                && text.length() <= MAX_LENGTH_DIGITS
                && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    private static boolean changesSomething(HttpMethod method) {
        return !method.equals(HttpMethod.GET) && !method.equals(HttpMethod.HEAD) && !method.equals(HttpMethod.OPTIONS);
    }

    private String checkHost(HttpRequest request) {
        List<String> named = request.headers().getAll(HttpHeaderNames.HOST);
        if (named.size() > 1 || (named.isEmpty() && request.protocolVersion().equals(HttpVersion.HTTP_1_1))) {
            throw malformed("the request needs one Host header", "send one Host header");
        }
        if (named.isEmpty()) {
            return "";
        }
        if (!hosts.allows(named.get(0))) {
            throw new Problem(
                            ProblemType.WRONG_HOST,
                            "the Host header names a host that is not a name of this listener",
                            "use the listener's IP address, or add the name to gateway.allowed.hosts")
                    .exception();
        }
        return named.get(0);
    }

    private void checkOrigin(HttpHeaders headers, String host) {
        List<String> named = headers.getAll(HttpHeaderNames.ORIGIN);
        if (!named.isEmpty() && (named.size() > 1 || !origins.allows(named.get(0), host))) {
            throw new Problem(
                            ProblemType.FOREIGN_ORIGIN,
                            "pages of this origin may not change anything here",
                            "add the origin to gateway.allowed.origins if you trust all of its pages")
                    .exception();
        }
    }

    private static void checkType(HttpHeaders headers) {
        List<String> types = headers.getAll(HttpHeaderNames.CONTENT_TYPE);
        CharSequence type = types.size() == 1 ? HttpUtil.getMimeType(types.get(0)) : null;
        if (type == null || FORM_TYPES.contains(type.toString().strip().toLowerCase(Locale.ROOT))) {
            throw new Problem(
                            ProblemType.UNSUPPORTED_MEDIA_TYPE,
                            "a request that changes something needs a Content-Type that no HTML form can send",
                            "send Content-Type: application/octet-stream, application/json or application/x-ndjson")
                    .exception();
        }
    }

    private static ProblemException malformed(String detail, String remedy) {
        return new Problem(ProblemType.MALFORMED_REQUEST, detail, remedy).exception();
    }
}
