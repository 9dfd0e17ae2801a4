package io.journalq.server.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HttpResponsesTest {
    private static HttpHeaders headers(HttpResponseStatus status) {
        return HttpResponses.complete(status, "text/css", Unpooled.EMPTY_BUFFER, false, true, Map.of("ETag", "\"1\""))
                .headers();
    }

    /** RFC 9110, section 8.6: a length in a response with status 304 is that of the content of the one with 200. */
    @Test
    void shouldNotSayThatTheContentIsEmptyWhenItHasNotChanged() {
        assertThat(headers(HttpResponseStatus.NOT_MODIFIED).contains(HttpHeaderNames.CONTENT_LENGTH))
                .isFalse();
        assertThat(headers(HttpResponseStatus.NOT_MODIFIED).get(HttpHeaderNames.ETAG))
                .isEqualTo("\"1\"");
        assertThat(headers(HttpResponseStatus.OK).get(HttpHeaderNames.CONTENT_LENGTH))
                .isEqualTo("0");
    }
}
