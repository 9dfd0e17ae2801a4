package io.journalq.server.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsoleRouteTest {
    @ParameterizedTest
    @ValueSource(strings = {"gzip", "deflate, GZIP", "br;q=1.0, gzip;q=0.8", "gzip ; q=0.01"})
    void shouldCompressWhenAClientTakesGzip(String accepted) {
        assertThat(ConsoleRoute.takesGzip(List.of(accepted))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"identity", "gzip;q=0", "br, gzip; q=0.000", "notgzip", ""})
    void shouldNotCompressWhenAClientDoesNotTakeGzip(String accepted) {
        assertThat(ConsoleRoute.takesGzip(List.of(accepted))).isFalse();
    }

    @Test
    void shouldReadAllHeadersWhenAClientSendsSeveral() {
        assertThat(ConsoleRoute.takesGzip(List.of())).isFalse();
        assertThat(ConsoleRoute.takesGzip(List.of("br", "gzip"))).isTrue();
    }
}
