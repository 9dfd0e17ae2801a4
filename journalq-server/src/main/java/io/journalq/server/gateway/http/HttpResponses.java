package io.journalq.server.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Map;

/** Builds responses with the headers that all of them have. Stateless. */
final class HttpResponses {
    private static final String NO_CONTENT_OF_OTHERS = "default-src 'none'; frame-ancestors 'none'";

    private HttpResponses() {}

    /** Permits the client to send the body. */
    static HttpResponse permission() {
        return new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER);
    }

    /** Ends HTTP on the connection, which speaks another protocol from here. */
    static HttpResponse upgrade(Map<String, String> headers) {
        HttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS, Unpooled.EMPTY_BUFFER);
        headers.forEach(response.headers()::set);
        return response;
    }

    /**
     * A complete response.
     *
     * @param document its body; the response takes ownership of it
     * @param headOnly whether the body is left out, because the method of the request is HEAD
     */
    static HttpResponse complete(
            HttpResponseStatus status,
            String type,
            ByteBuf document,
            boolean headOnly,
            boolean keepAlive,
            Map<String, String> more) {
        int length = document.readableBytes();
        if (headOnly) {
            document.release();
        }
        HttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, headOnly ? Unpooled.EMPTY_BUFFER : document);
        setHeaders(response.headers(), type, keepAlive);
        if (status.equals(HttpResponseStatus.NO_CONTENT) || status.equals(HttpResponseStatus.NOT_MODIFIED)) {
            // A length would be that of the content that a 304 stands for.
            response.headers().remove(HttpHeaderNames.CONTENT_TYPE);
        } else {
            response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, length);
        }
        more.forEach(response.headers()::set);
        return response;
    }

    /**
     * The head of a response whose size is not known.
     *
     * @param chunked whether the response is sent in chunks; if not, it ends with the connection
     */
    static HttpResponse stream(String type, boolean chunked, boolean keepAlive) {
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        setHeaders(response.headers(), type, keepAlive);
        if (chunked) {
            response.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        return response;
    }

    private static void setHeaders(HttpHeaders headers, String type, boolean keepAlive) {
        headers.set(HttpHeaderNames.CONTENT_TYPE, type);
        headers.set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set(HttpHeaderNames.CONTENT_SECURITY_POLICY, NO_CONTENT_OF_OTHERS);
        headers.set(HttpHeaderNames.CONNECTION, keepAlive ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
    }
}
