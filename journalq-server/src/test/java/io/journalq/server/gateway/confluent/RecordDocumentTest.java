package io.journalq.server.gateway.confluent;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.gateway.problem.ProblemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordDocumentTest {
    /** A consumer instance of the format JSON could not read them, nor what is behind them. */
    @ParameterizedTest
    @ValueSource(strings = {"\u00c0\u0080", "\u00c1\u00a1", "\u00ed\u00a0\u0080"})
    void shouldRefuseAValueThatIsNotUtf8(String text) {
        byte[] v2 = ("{\"records\":[{\"value\":\"" + text + "\"}]}").getBytes(ISO_8859_1);
        byte[] v3 = ("{\"value\":{\"type\":\"JSON\",\"data\":[\"" + text + "\"]}}").getBytes(ISO_8859_1);

        assertThatThrownBy(() -> RecordDocument.readV2(v2, RecordDocument.Format.JSON))
                .isInstanceOf(ProblemException.class);
        assertThatThrownBy(() -> RecordDocument.readV3(v3)).isInstanceOf(ProblemException.class);
    }

    @Test
    void shouldReadADocumentThatBeginsWithAByteOrderMark() {
        byte[] v2 = "\ufeff{\"records\":[{\"value\":[1]}]}".getBytes(UTF_8);
        byte[] v3 = "\ufeff{\"value\":{\"type\":\"JSON\",\"data\":[1]}}".getBytes(UTF_8);

        assertThat(RecordDocument.readV2(v2, RecordDocument.Format.JSON))
                .singleElement()
                .satisfies(record -> assertThat(record.value()).asString(UTF_8).isEqualTo("[1]"));
        assertThat(RecordDocument.readV3(v3).value()).asString(UTF_8).isEqualTo("[1]");
    }
}
