package io.journalq.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.chaos.load.BrokerReports;
import io.journalq.chaos.load.Payload;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalDamageTest {
    private static final int BATCHES = 8;

    @TempDir
    private Path data;

    @Test
    void shouldFlipOneBitOfAnAcknowledgedBatchWhenNoCheckpointCoversIt() throws IOException {
        // given a journal of one producer, without a checkpoint
        Path log = journal("id-0", BATCHES);
        byte[] before = Files.readAllBytes(log);
        JournalDamage damage = new JournalDamage(data, Map.of("id-0", "topic-0"));
        // when
        JournalDamage.Loss loss = damage.damageNotCheckpointed(new Random(1));
        // then it is a batch with at least five later ones; each batch holds two messages
        byte[] after = Files.readAllBytes(log);
        assertThat(differentBits(before, after)).isEqualTo(1);
        int number = loss.flip().position() / (before.length / BATCHES);
        assertThat(number).isLessThan(BATCHES - 5);
        assertThat(loss.messages()).containsExactly(new Payload(1, 2L * number), new Payload(1, 2L * number + 1));
        assertThat(loss.flip().partition()).isEqualTo("topic-0");
        // and verify finds it, and it can be undone
        assertThat(loss.flip().isFoundByVerify()).isTrue();
        assertThat(loss.flip().isUndone()).isFalse();
        loss.flip().undo();
        assertThat(loss.flip().isUndone()).isTrue();
        assertThat(loss.flip().isFoundByVerify()).isFalse();
        assertThat(Files.readAllBytes(log)).isEqualTo(before);
    }

    @Test
    void shouldDamageNothingWhenNoBatchIsKnownToBeAcknowledged() throws IOException {
        Path log = journal("id-0", 5);
        byte[] before = Files.readAllBytes(log);
        JournalDamage damage = new JournalDamage(data, Map.of("id-0", "topic-0"));
        assertThat(damage.damageNotCheckpointed(new Random(1))).isNull();
        // Without a checkpoint, no batch is covered by one.
        assertThat(damage.damageCheckpointed(new Random(1))).isNull();
        assertThat(Files.readAllBytes(log)).isEqualTo(before);
    }

    @Test
    void shouldNotDamageTheLastBatchWhenTheMetadataLogIsDamaged() throws IOException {
        Path log = journal(BrokerReports.METADATA_DIRECTORY, 2);
        byte[] before = Files.readAllBytes(log);
        JournalDamage damage = new JournalDamage(data, Map.of());
        for (int seed = 0; seed < 100; seed++) {
            JournalDamage.Flip flip = damage.damageMetadata(new Random(seed));
            assertThat(flip.position()).isZero();
            flip.undo();
        }
        assertThat(Files.readAllBytes(log)).isEqualTo(before);
    }

    /** Writes a journal with batches of the same size, each with two messages. */
    private Path journal(String directory, int batches) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < batches; i++) {
            try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
                for (int number = 2 * i; number < 2 * i + 2; number++) {
                    // The key compensates for the different sizes of the payloads.
                    byte[] value = new Payload(1, number).encode();
                    builder.append(1, new byte[1_000 - value.length], value, List.of());
                }
                ByteBuf batch = builder.build();
                RecordBatch.setBaseOffset(batch, 0, 2L * i);
                bytes.write(ByteBufUtil.getBytes(batch));
                batch.release();
            }
        }
        Path log = Files.createDirectories(data.resolve(directory)).resolve("%020d.log".formatted(0));
        return Files.write(log, bytes.toByteArray());
    }

    private static int differentBits(byte[] one, byte[] other) {
        int bits = 0;
        for (int i = 0; i < one.length; i++) {
            bits += Integer.bitCount((one[i] ^ other[i]) & 0xFF);
        }
        return bits;
    }
}
