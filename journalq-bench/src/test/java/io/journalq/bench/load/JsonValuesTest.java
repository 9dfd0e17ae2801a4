package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonValuesTest {
    private static final byte[] LINES =
            "{\"key\":\"k\",\"value\":\"first\"},{\"value\":\"second\"}".getBytes(StandardCharsets.US_ASCII);
    private static final int FIRST = 20;
    private static final int SECOND = 38;

    @Test
    void shouldFindOneValueAfterTheOther() {
        assertThat(JsonValues.next(LINES, 0, LINES.length)).isEqualTo(FIRST);
        assertThat(JsonValues.next(LINES, FIRST, LINES.length)).isEqualTo(SECOND);
        assertThat(JsonValues.next(LINES, SECOND, LINES.length)).isEqualTo(-1);
    }

    @Test
    void shouldNotLookBehindTheEnd() {
        assertThat(JsonValues.next(LINES, 0, FIRST)).isEqualTo(FIRST);
        assertThat(JsonValues.next(LINES, 0, FIRST - 1)).isEqualTo(-1);
    }
}
