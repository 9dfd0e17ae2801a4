package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.sim.disk.SimDisk.Damage;
import io.journalq.sim.world.Violations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DamageIsContainedTest {
    private static byte[] batch() {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, null, new byte[10], List.of());
            ByteBuf batch = builder.build();
            try {
                return ByteBufUtil.getBytes(batch);
            } finally {
                batch.release();
            }
        }
    }

    private static Damage flip(Path file, int position, byte[] content) {
        return new Damage(file, position, content, (byte) (content[position] ^ 1));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00000000000000000000.log",
                // A compacted segment that has not replaced the old ones yet: seed 5287186.
                "00000000000000000000-00000000000000000015.swap"
            })
    void shouldAttributeAFlippedBitToItsBatch(String file) {
        DamageIsContained check = new DamageIsContained(new Violations());
        byte[] content = batch();

        check.onDamage(flip(Path.of("topic-0", file), content.length - 1, content));

        assertThat(check.toString())
                .contains("segment=" + Path.of("topic-0", "00000000000000000000") + ", firstOffset=0, lastOffset=0");
    }

    @Test // seed 5307586
    void shouldAttributeAFlippedBitToItsBatchWhenTheFileWasWrittenAgainSinceAnEarlierOne() {
        DamageIsContained check = new DamageIsContained(new Violations());
        Path file = Path.of("topic-0", "00000000000000000000.log");
        byte[] written = batch();
        byte[] lost = written.clone();
        // A byte of the base offset, which no CRC covers.
        lost[2] = 7;

        check.onDamage(flip(file, 2, lost));
        check.onDamage(flip(file, written.length - 1, written));

        assertThat(check.toString()).contains("firstOffset=0, lastOffset=0");
    }

    @Test
    void shouldAttributeAFlippedBitToItsBatchWhenAnEarlierOneChangedTheBaseOffset() {
        DamageIsContained check = new DamageIsContained(new Violations());
        Path file = Path.of("topic-0", "00000000000000000000.log");
        byte[] written = batch();
        Damage first = flip(file, 2, written);
        byte[] flipped = written.clone();
        flipped[2] = first.after();

        check.onDamage(first);
        check.onDamage(flip(file, written.length - 1, flipped));

        assertThat(check.toString()).containsPattern("firstOffset=0, lastOffset=0.*firstOffset=0, lastOffset=0");
    }
}
