package io.journalq.cli.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.record.Header;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LineParserTest {
    private static final int MAX_LINE_BYTES = 16;

    private static ProducerRecord parse(LineParser parser, String line) {
        return parser.parse(line.getBytes(UTF_8), 7);
    }

    @Test
    void shouldTakeTheWholeLineAsValueWithoutSeparator() {
        LineParser parser = new LineParser("t", 2, null, "k", List.of(new Header("h", "v".getBytes(UTF_8))), false);

        ProducerRecord record = parse(parser, "a:b");

        assertThat(record.key()).isEqualTo("k".getBytes(UTF_8));
        assertThat(record.value()).isEqualTo("a:b".getBytes(UTF_8));
        assertThat(record.partition()).isEqualTo(2);
        assertThat(record.headers()).singleElement().extracting(Header::key).isEqualTo("h");
    }

    @Test
    void shouldSplitAtTheFirstSeparator() {
        LineParser parser = new LineParser("t", ProducerRecord.ANY_PARTITION, "::", null, List.of(), false);

        ProducerRecord record = parse(parser, "key::value::more");

        assertThat(record.key()).isEqualTo("key".getBytes(UTF_8));
        assertThat(record.value()).isEqualTo("value::more".getBytes(UTF_8));
        assertThatThrownBy(() -> parse(parser, "no separator"))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("line 7 has no key separator '::'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "hello | Unrecognized token 'hello'",
                "[1] | expected one object per line",
                "{\"value\":\"a\"} {} | more than one JSON value",
                "{\"value\":{\"a\":1}} | value must be a string",
                "{\"valeu\":\"a\"} | unknown field 'valeu'",
                "{\"valueBase64\":\"?\"} | valueBase64 is not base64",
                "{\"value\":\"a\\ud83d\"} | value contains half a surrogate pair",
                "{\"key\":\"\\ude00\"} | key contains half a surrogate pair",
                "{\"headers\":[{\"name\":\"\\ud83d\"}]} | name contains half a surrogate pair",
                "{\"partition\":1.5} | partition must be a whole number",
                "{\"partition\":3000000000} | there is no partition 3000000000",
                "{\"headers\":{\"a\":\"b\"}} | headers must be a list",
                "{\"headers\":[{\"value\":\"b\"}]} | a header must have a name",
                "{\"value\":\"a\" | Unexpected end-of-input",
            })
    void shouldNameTheLineWhenJsonIsWrong(String line, String expected) {
        LineParser parser = new LineParser("t", ProducerRecord.ANY_PARTITION, null, null, List.of(), true);

        assertThatThrownBy(() -> parse(parser, line))
                .isInstanceOf(CommandFailure.class)
                .hasMessageStartingWith("line 7: ")
                .hasMessageContaining(expected);
    }

    @Test
    void shouldGiveTheKeyOfTheOptionToMessagesWithoutAKeyWhenTheyAreJson() {
        LineParser parser = new LineParser("t", 0, null, "k", List.of(), true);

        assertThat(parse(parser, "{\"value\":\"a\"}").key()).isEqualTo("k".getBytes(UTF_8));
        assertThat(parse(parser, "{\"key\":null,\"value\":\"a\"}").key()).isEqualTo("k".getBytes(UTF_8));
        assertThat(parse(parser, "{\"key\":\"own\",\"value\":\"a\"}").key()).isEqualTo("own".getBytes(UTF_8));
    }

    @Test
    void shouldReadALongTextInJson() {
        LineParser parser = new LineParser("t", 0, null, null, List.of(), true);
        String longer = "x".repeat(20_000_001);

        ProducerRecord record = parse(parser, "{\"value\":\"" + longer + "\"}");

        assertThat(record.value()).hasSize(longer.length());
    }

    @Test
    void shouldReadLinesWithEitherLineEndAndRefuseLongerOnes() throws IOException {
        LineReader lines = reader("one\r\n\ntwo");
        List<String> read = new ArrayList<>();
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            read.add(new String(line, UTF_8));
        }
        assertThat(read).containsExactly("one", "", "two");

        LineReader tooLong = reader("short\n" + "x".repeat(MAX_LINE_BYTES + 1) + "\n");
        tooLong.next();
        assertThatThrownBy(tooLong::next).isInstanceOf(CommandFailure.class).hasMessageContaining("line 2 is longer");
    }

    @Test
    void shouldReadLinesThatSpanManyReads() throws IOException {
        // given
        List<String> written = new ArrayList<>();
        for (int size = 0; size < 200_000; size = size * 3 + 1) {
            written.add("x".repeat(size));
        }
        InputStream oneByteAtATime =
                new ByteArrayInputStream(String.join("\n", written).getBytes(UTF_8)) {
                    @Override
                    public synchronized int read(byte[] target, int offset, int length) {
                        return super.read(target, offset, Math.min(length, 1));
                    }
                };
        LineReader lines = new LineReader(oneByteAtATime, 1 << 20, () -> {});

        // when
        List<String> read = new ArrayList<>();
        for (byte[] line = lines.next(); line != null; line = lines.next()) {
            read.add(new String(line, UTF_8));
        }

        // then
        assertThat(read).isEqualTo(written);
        assertThat(lines.lineNumber()).isEqualTo(written.size());
    }

    private static LineReader reader(String text) {
        return new LineReader(new ByteArrayInputStream(text.getBytes(UTF_8)), MAX_LINE_BYTES, () -> {});
    }
}
