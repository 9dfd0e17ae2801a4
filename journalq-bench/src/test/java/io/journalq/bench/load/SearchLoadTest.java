package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SearchLoadTest {
    private static String response(long scanned, long matched, boolean atEnd) {
        return "HTTP/1.1 200 OK\r\n\r\n{\"progress\":{\"scanned\":0,\"matched\":0,\"offsets\":0}}\n"
                + "{\"progress\":{\"scanned\":" + scanned + ",\"matched\":" + matched + ",\"offsets\":7}}\n"
                + "{\"cursor\":\"0:7\",\"atEnd\":" + atEnd + "}\n";
    }

    @Test
    void shouldAcceptASearchOfEverything() {
        assertThatCode(() -> SearchLoad.requireComplete(response(7, 2, true), 7, 2))
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"6, 2, true", "7, 1, true", "7, 2, false"})
    void shouldRefuseASearchThatMissedSomething(long scanned, long matched, boolean atEnd) {
        assertThatThrownBy(() -> SearchLoad.requireComplete(response(scanned, matched, atEnd), 7, 2))
                .hasMessage(scanned + " of 7 messages were searched, and " + matched + " of 2 were found");
    }

    @Test
    void shouldRefuseAResponseWithoutProgress() {
        assertThatThrownBy(() -> SearchLoad.requireComplete("HTTP/1.1 503 Service Unavailable\r\n\r\n", 7, 2))
                .hasMessageContaining("-1 of 7 messages were searched");
    }
}
