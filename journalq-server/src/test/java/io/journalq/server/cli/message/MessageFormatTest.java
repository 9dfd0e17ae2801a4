package io.journalq.server.cli.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.ProducerRecord;
import io.journalq.common.record.Header;
import io.journalq.server.cli.shell.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageFormatTest {
    private static final byte[] BINARY = {(byte) 0xff, 0, (byte) 0xfe};
    private static final Message MESSAGE = new Message(
            "orders",
            3,
            1500,
            1_769_860_800_000L,
            "k1".getBytes(UTF_8),
            "straße $1 \\".getBytes(UTF_8),
            List.of(new Header("a", "1".getBytes(UTF_8)), new Header("a", null), new Header("b", BINARY)));
    private static final Message TOMBSTONE = new Message("orders", 0, 0, 0, BINARY, null, List.of());

    private static String show(MessageFormat format, Message... messages) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, new ByteArrayOutputStream(), "");
        for (Message message : messages) {
            format.print(message, terminal);
        }
        terminal.flush();
        return out.toString(UTF_8);
    }

    @Test
    void shouldShowValuesAndKeys() {
        assertThat(show(MessageFormat.parse("value", null), MESSAGE, TOMBSTONE)).isEqualTo("straße $1 \\\n\n");
        assertThat(show(MessageFormat.parse("value", ":"), MESSAGE)).isEqualTo("k1:straße $1 \\\n");
    }

    @Test
    void shouldFillInTemplates() {
        MessageFormat format = MessageFormat.parse("{topic}/{partition}@{offset}\\t{time} {key}={value} {size}B", null);

        assertThat(show(format, MESSAGE)).isEqualTo("orders/3@1500\t2026-01-31T12:00:00Z k1=straße $1 \\ 12B\n");
    }

    @Test
    void shouldShowBinaryAsBase64InJson() {
        assertThat(show(MessageFormat.parse("json", null), MESSAGE, TOMBSTONE))
                .isEqualTo(
                        """
                        {"topic":"orders","partition":3,"offset":1500,"timestamp":1769860800000,"key":"k1",\
                        "value":"straße $1 \\\\","headers":[{"name":"a","value":"1"},{"name":"a","value":null},\
                        {"name":"b","valueBase64":"/wD+"}]}
                        {"topic":"orders","partition":0,"offset":0,"timestamp":0,"keyBase64":"/wD+","value":null}
                        """);
    }

    @Test
    void shouldReadBackWhatItWroteAsJson() {
        // given
        LineParser parser = new LineParser("copy", ProducerRecord.ANY_PARTITION, null, null, List.of(), true);

        // when
        String line = show(MessageFormat.parse("json", null), MESSAGE).strip();
        ProducerRecord record = parser.parse(line.getBytes(UTF_8), 1);

        // then
        assertThat(record.topic()).isEqualTo("copy");
        assertThat(record.partition()).isEqualTo(3);
        assertThat(record.timestampMs()).isEqualTo(MESSAGE.timestampMs());
        assertThat(record.key()).isEqualTo(MESSAGE.key());
        assertThat(record.value()).isEqualTo(MESSAGE.value());
        assertThat(record.headers()).extracting(Header::key).containsExactly("a", "a", "b");
        assertThat(record.headers()).extracting(Header::value).containsExactly("1".getBytes(UTF_8), null, BINARY);
    }
}
