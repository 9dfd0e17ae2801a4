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

        check.onDamage(new Damage(Path.of("topic-0", file), content.length - 1, content));

        assertThat(check.toString())
                .contains("segment=" + Path.of("topic-0", "00000000000000000000") + ", firstOffset=0, lastOffset=0");
    }
}
