package io.journalq.server.gateway.http;

import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.List;

/**
 * What the head of a request says about its body.
 *
 * @param bodyLength size of the body as its route receives it, or {@link HttpExchange#UNKNOWN_LENGTH}
 * @param gzip whether the body is compressed
 * @param expectsContinue whether the client waits for a permission to send the body
 */
record RequestHead(long bodyLength, boolean gzip, boolean expectsContinue) {
    /** Maximum size of a body, after decompression. */
    static final long MAX_BODY_BYTES = 64L * 1024 * 1024;

    private static final String CONTINUE = "100-continue";
    private static final String GZIP = "gzip";

    /**
     * Reads a head that was decoded and whose framing is certain.
     *
     * @throws ProblemException if the body is not accepted
     */
    static RequestHead of(HttpRequest request) {
        long length = bodyLength(request);
        boolean gzip = isGzip(request);
        return new RequestHead(
                gzip && length != 0 ? HttpExchange.UNKNOWN_LENGTH : length, gzip, expectsContinue(request));
    }

    /** Whether a body follows the head. */
    static boolean hasBody(HttpRequest request) {
        return request.headers().contains(HttpHeaderNames.TRANSFER_ENCODING)
                || !"0".equals(request.headers().get(HttpHeaderNames.CONTENT_LENGTH, "0"));
    }

    /** The problem of a head that could not be decoded. */
    static ProblemException unreadable(Throwable cause) {
        Problem problem;
        if (cause instanceof TooLongHttpLineException) {
            problem = new Problem(
                    ProblemType.TARGET_TOO_LONG, "the request line exceeds 8 KiB", "send a shorter path or cursor");
        } else if (cause instanceof TooLongHttpHeaderException) {
            problem = new Problem(ProblemType.HEAD_TOO_LARGE, "the headers exceed 8 KiB", "send fewer headers");
        } else {
            problem = new Problem(
                    ProblemType.MALFORMED_REQUEST, "the request cannot be read", "send a request of HTTP/1.1");
        }
        return problem.exception();
    }

    static ProblemException bodyTooLarge() {
        return new Problem(
                        ProblemType.BODY_TOO_LARGE,
                        "the body exceeds 64 MiB, counted after decompression",
                        "send several requests")
                .exception();
    }

    private static long bodyLength(HttpRequest request) {
        if (HttpUtil.isTransferEncodingChunked(request)) {
            return HttpExchange.UNKNOWN_LENGTH;
        }
        long length = HttpUtil.getContentLength(request, 0L);
        if (length > MAX_BODY_BYTES) {
            throw bodyTooLarge();
        }
        return length;
    }

    private static boolean isGzip(HttpRequest request) {
        List<String> encodings = request.headers().getAll(HttpHeaderNames.CONTENT_ENCODING);
        if (encodings.isEmpty()
                || (encodings.size() == 1 && encodings.get(0).equalsIgnoreCase(HttpHeaderValues.IDENTITY.toString()))) {
            return false;
        }
        if (encodings.size() > 1 || !encodings.get(0).equalsIgnoreCase(GZIP)) {
            throw new Problem(
                            ProblemType.UNSUPPORTED_MEDIA_TYPE,
                            "the body has a Content-Encoding other than gzip",
                            "compress it with gzip, or not at all")
                    .exception();
        }
        return true;
    }

    private static boolean expectsContinue(HttpRequest request) {
        String expected = request.headers().get(HttpHeaderNames.EXPECT);
        if (expected != null && !expected.equalsIgnoreCase(CONTINUE)) {
            throw new Problem(
                            ProblemType.EXPECTATION_FAILED,
                            "only the expectation 100-continue is supported",
                            "send the request without the Expect header")
                    .exception();
        }
        return expected != null && request.protocolVersion().equals(HttpVersion.HTTP_1_1);
    }
}
