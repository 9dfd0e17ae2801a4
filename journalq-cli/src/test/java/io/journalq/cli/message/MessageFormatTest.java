package io.journalq.cli.message;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.Terminal;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class MessageFormatTest {
    private static final byte[] BINARY = {(byte) 0xff, 0, (byte) 0xfe};
    private static final ConsumedMessage MESSAGE = new Shown(
            "orders",
            3,
            1500,
            1_769_860_800_000L,
            bytes("k1".getBytes(UTF_8)),
            bytes("straße $1 \\".getBytes(UTF_8)),
            List.of(new Header("a", "1".getBytes(UTF_8)), new Header("a", null), new Header("b", BINARY)));
    private static final ConsumedMessage TOMBSTONE = new Shown("orders", 0, 0, 0, bytes(BINARY), null, List.of());

    private record Shown(
            String topic,
            int partition,
            long offset,
            long timestampMs,
            ByteBuf key,
            ByteBuf value,
            List<Header> headers)
            implements ConsumedMessage {}

    private static ByteBuf bytes(byte[] content) {
        return Unpooled.wrappedBuffer(content);
    }

    private static String show(String format, String keySeparator, ConsumedMessage... messages) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, new ByteArrayOutputStream(), "");
        MessageFormat shown = MessageFormat.parse(format, keySeparator, terminal);
        for (ConsumedMessage message : messages) {
            shown.print(message);
        }
        terminal.flush();
        return out.toString(UTF_8);
    }

    @Test
    void shouldShowValuesAndKeys() {
        assertThat(show("value", null, MESSAGE, TOMBSTONE)).isEqualTo("straße $1 \\\n\n");
        assertThat(show("value", ":", MESSAGE)).isEqualTo("k1:straße $1 \\\n");
    }

    @Test
    void shouldFillInTemplates() {
        String format = "{topic}/{partition}@{offset}\\t{time} {key}={value} {size}B";

        assertThat(show(format, null, MESSAGE)).isEqualTo("orders/3@1500\t2026-01-31T12:00:00Z k1=straße $1 \\ 12B\n");
    }

    @Test
    void shouldShowBinaryAsBase64InJson() {
        assertThat(show("json", null, MESSAGE, TOMBSTONE))
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
        String line = show("json", null, MESSAGE).strip();
        ProducerRecord record = parser.parse(line.getBytes(UTF_8), 1);

        // then
        assertThat(record.topic()).isEqualTo("copy");
        assertThat(record.partition()).isEqualTo(3);
        assertThat(record.timestampMs()).isEqualTo(MESSAGE.timestampMs());
        assertThat(record.key()).isEqualTo(ByteBufUtil.getBytes(MESSAGE.key()));
        assertThat(record.value()).isEqualTo(ByteBufUtil.getBytes(MESSAGE.value()));
        assertThat(record.headers()).extracting(Header::key).containsExactly("a", "a", "b");
        assertThat(record.headers()).extracting(Header::value).containsExactly("1".getBytes(UTF_8), null, BINARY);
    }

    @Test
    void shouldShowMessagesLargerThanAnyBuffer() {
        String large = "é".repeat(100_000);
        ConsumedMessage message = new Shown("t", 0, 1, 2, null, bytes(large.getBytes(UTF_8)), List.of());

        assertThat(show("value", null, message, message)).isEqualTo(large + "\n" + large + "\n");
        assertThat(show("json", null, message))
                .isEqualTo("{\"topic\":\"t\",\"partition\":0,\"offset\":1,\"timestamp\":2,\"key\":null,\"value\":\""
                        + large + "\"}\n");
    }
}
