package io.journalq.bench.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PayloadPoolTest {
    private static final int MESSAGE_SIZE_BYTES = 1024;
    private static final int POOL_SIZE_BYTES = 1 << 20;
    private static final int BATCH_SIZE = 100;

    @Test
    void shouldGiveTheSameMessagesWhenBuiltAgain() {
        PayloadPool first = PayloadPool.build("text", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);
        PayloadPool second = PayloadPool.build("text", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);

        assertThat(first.size()).isEqualTo(POOL_SIZE_BYTES / MESSAGE_SIZE_BYTES);
        for (int index = 0; index < first.size(); index++) {
            assertThat(first.message(index)).hasSize(MESSAGE_SIZE_BYTES).isEqualTo(second.message(index));
        }
    }

    @Test
    void shouldBeginAgainWhenNumbersGoBeyondItsEnd() {
        PayloadPool pool = PayloadPool.build("random", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);

        assertThat(pool.message(pool.size() * 5_000_000_000L + 3)).isSameAs(pool.message(3));
    }

    @Test
    void shouldKnowItsOwnMessages() {
        PayloadPool pool = PayloadPool.build("random", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);

        assertThat(pool.holds(pool.message(7).clone())).isTrue();
    }

    @Test
    void shouldRejectAMessageWhenAnyByteDiffers() {
        PayloadPool pool = PayloadPool.build("text", 64, POOL_SIZE_BYTES);

        for (int at = 0; at < 64; at++) {
            byte[] damaged = pool.message(5).clone();
            damaged[at] ^= 0x10;
            assertThat(pool.holds(damaged)).as("byte %d", at).isFalse();
        }
        assertThat(pool.holds(new byte[0])).isFalse();
        assertThat(pool.holds(new byte[64])).isFalse();
    }

    @Test
    void shouldShrinkTextAboutThirtyTimesInABatchOfAHundred() {
        PayloadPool pool = PayloadPool.build("text", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);

        assertThat(shrinksBy(pool)).isBetween(25.0, 40.0);
    }

    @Test
    void shouldNotShrinkRandom() {
        PayloadPool pool = PayloadPool.build("random", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);

        assertThat(shrinksBy(pool)).isBetween(0.9, 1.1);
    }

    @Test
    void shouldShrinkJsonLikeDocumentsAndNotLikeLogLines() {
        PayloadPool pool = PayloadPool.build("json", MESSAGE_SIZE_BYTES, POOL_SIZE_BYTES);

        assertThat(shrinksBy(pool)).isBetween(2.0, 6.0);
    }

    private static double shrinksBy(PayloadPool pool) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.LZ4)) {
            for (int index = 0; index < BATCH_SIZE; index++) {
                builder.append(0, null, pool.message(index), List.of());
            }
            ByteBuf batch = builder.build();
            try {
                return (double) BATCH_SIZE * MESSAGE_SIZE_BYTES / batch.readableBytes();
            } finally {
                batch.release();
            }
        }
    }

    @Test
    void shouldCutAFileIntoMessagesFromItsBeginning(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("input"), "abcdefghij");

        PayloadPool pool = PayloadPool.build("file:" + file, 24, 1024);

        assertThat(body(pool.message(0))).isEqualTo("abcdefghijabcdef");
        assertThat(body(pool.message(1))).isEqualTo("ghijabcdefghijab");
    }

    private static String body(byte[] message) {
        return new String(
                message,
                PayloadPool.HEADER_SIZE_BYTES,
                message.length - PayloadPool.HEADER_SIZE_BYTES,
                StandardCharsets.US_ASCII);
    }

    @Test
    void shouldSayWhatToDoWhenThePayloadCannotBeMade(@TempDir Path directory) throws IOException {
        Path empty = Files.createFile(directory.resolve("empty"));

        assertThatThrownBy(() -> PayloadPool.build("prose", 100, 1024))
                .isInstanceOf(BenchException.class)
                .hasMessage("'prose' is not a kind of payload; use " + PayloadSource.KINDS);
        assertThatThrownBy(() -> PayloadPool.build("file:" + empty, 100, 1024)).hasMessageContaining("is empty");
        assertThatThrownBy(() -> PayloadPool.build("file:" + directory.resolve("none"), 100, 1024))
                .hasMessageContaining("cannot read payload file");
        assertThatThrownBy(() -> PayloadPool.build("text", 15, 1024)).hasMessageContaining("use 16 to 900000 bytes");
        assertThatThrownBy(() -> PayloadPool.build("text", 900_001, 1024)).hasMessageContaining("out of range");
    }
}
