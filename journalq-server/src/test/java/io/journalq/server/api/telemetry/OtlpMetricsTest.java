package io.journalq.server.api.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.api.telemetry.OtlpMetrics.MalformedMetricsException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Decodes metrics of clients, which may contain any bytes. */
class OtlpMetricsTest {
    @Test
    void shouldReadGaugesAndSumsWithTheirAttributes() {
        // given a gauge of a double and a sum of an integer, among fields that are skipped
        ByteBuf attribute = Unpooled.wrappedBuffer(field(1, text("topic")), field(2, field(1, text("orders"))));
        ByteBuf gauge = field(5, field(1, number(4, 1.5), field(7, attribute)));
        ByteBuf sum = field(7, Unpooled.buffer().writeByte(2 << 3).writeByte(1), field(1, number(6, 42L)));
        ByteBuf metrics = field(
                1,
                field(1, text("resource")),
                field(2, field(2, field(1, text("a.rate")), gauge), field(2, field(1, text("b.total")), sum)));

        // when
        MetricsLine line = new MetricsLine();
        OtlpMetrics.read(metrics, line);

        // then
        assertThat(line).hasToString("a.rate{topic=orders}=1.5 b.total=42.0");
    }

    @Test
    void shouldThrowNothingUnexpectedWhateverTheBytesAre() {
        Random random = new Random(7);
        ByteBuf sound = field(1, field(2, field(2, field(1, text("name")), field(5, field(1, number(4, 1))))));
        for (int i = 0; i < 20_000; i++) {
            ByteBuf bytes = sound.copy();
            int changes = 1 + random.nextInt(4);
            for (int change = 0; change < changes; change++) {
                bytes.setByte(random.nextInt(bytes.readableBytes()), random.nextInt(256));
            }
            bytes.writerIndex(random.nextInt(bytes.readableBytes() + 1));
            List<String> names = new ArrayList<>();
            try {
                OtlpMetrics.read(bytes, (name, attributes, value) -> names.add(name));
            } catch (MalformedMetricsException expected) {
                assertThat(expected).hasMessageMatching("cut off|wire type \\d|a number of more than 10 bytes");
            }
            assertThat(names).hasSizeLessThan(10);
        }
    }

    @Test
    void shouldCutALineThatGrowsTooLongAndKeepItOneLine() {
        MetricsLine line = new MetricsLine();
        for (int i = 0; i < 10_000; i++) {
            line.onValue("na\nme " + i, Map.of(), i);
        }

        assertThat(line.toString())
                .startsWith("na_me_0=0.0 na_me_1=1.0")
                .contains(" andOthers=")
                .doesNotContain("\n")
                .hasSizeLessThan(MetricsLine.MAX_LENGTH + 100);
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private static ByteBuf number(int field, double value) {
        return Unpooled.buffer().writeByte(field << 3 | 1).writeDoubleLE(value);
    }

    private static ByteBuf number(int field, long value) {
        return Unpooled.buffer().writeByte(field << 3 | 1).writeLongLE(value);
    }

    private static ByteBuf field(int number, ByteBuf... contents) {
        ByteBuf content = Unpooled.wrappedBuffer(contents);
        return Unpooled.buffer()
                .writeByte(number << 3 | 2)
                .writeByte(content.readableBytes())
                .writeBytes(content);
    }
}
