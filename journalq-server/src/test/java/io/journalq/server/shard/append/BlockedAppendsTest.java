package io.journalq.server.shard.append;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.BatchRules;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.replication.ReplicaSet;
import io.journalq.server.shard.partition.PartitionSettings;
import io.journalq.server.shard.partition.SteppedPartition;
import io.journalq.server.shard.partition.SteppedPartition.Outcome;
import io.journalq.server.shard.partition.ThrottledReplicas;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Batches that are too large for a loop to validate, and the appends behind them. */
class BlockedAppendsTest {
    private static final int INLINE_BYTES = 10_000;
    private static final int ALLOWED_BYTES = 100_000;
    private static final int ALL = 1 << 20;
    private static final short EPOCH = 0;
    private static final int PRODUCE_VERSION = 12;
    private static final BatchRules RULES = new BatchRules(
            ALLOWED_BYTES, ALLOWED_BYTES, 100, Long.MAX_VALUE, Long.MAX_VALUE, false, false, true, false);

    @TempDir
    private Path directory;

    /** The threads that may block: they run when the test says so. */
    private final ArrayDeque<Runnable> blocking = new ArrayDeque<>();

    private SteppedPartition open(CompressionCodec kept) throws IOException {
        PartitionSettings settings = new PartitionSettings(
                new AppendSettings(RULES, kept, DeliveryMode.EVENTUAL, 1),
                1,
                true,
                JournalConfig.DEFAULT,
                1,
                ThrottledReplicas.NONE);
        return SteppedPartition.open(directory, settings, INLINE_BYTES, blocking::add);
    }

    private void look(SteppedPartition partition) {
        while (!blocking.isEmpty()) {
            blocking.remove().run();
            partition.loop().run();
        }
    }

    @Test
    void shouldKeepTheOrderWhenABatchIsValidatedOffTheLoop() throws IOException {
        // given a transactional batch that is large when it is decompressed
        SteppedPartition partition = open(null);
        String large = "x".repeat(INLINE_BYTES + 1);
        Outcome first = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, 0, true, large);

        // when more batches arrive behind it, and the end of the transaction
        Outcome second = partition.stage(7, EPOCH, 1, true, "second");
        Outcome other = partition.stage(8, EPOCH, 0, false, "other");
        Outcome marker = partition.stageMarker(7, EPOCH, true);
        Outcome third = partition.stage(CompressionCodec.ZSTD, 8, EPOCH, 1, false, large + large);
        Outcome last = partition.stage(8, EPOCH, 2, false, "last");
        partition.loop().run();

        // then none of them overtakes the first
        assertThat(first.error()).isNull();
        assertThat(other.error()).isNull();
        assertThat(partition.host().log().highWatermark()).isZero();

        // and once it is validated, all of them are appended in order
        look(partition);
        assertThat(first.offset()).isZero();
        assertThat(second.offset()).isEqualTo(1);
        assertThat(other.offset()).isEqualTo(2);
        assertThat(marker.offset()).isEqualTo(3);
        assertThat(third.offset()).isEqualTo(4);
        assertThat(last.offset()).isEqualTo(5);
        assertThat(partition.readCommitted(0, ALL)).containsExactly(large, "second", "other", large + large, "last");
        assertThat(partition.counters().validatedOffLoop()).isEqualTo(2);
    }

    @Test
    void shouldHoldAppendsBehindABatchThatIsValidatedUntilTheLastLeaderHasStopped() throws IOException {
        // given a leader that follows another broker before a batch is validated, and that is to lead again
        SteppedPartition partition = open(null);
        int self = SteppedPartition.NODE;
        Outcome large = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, 0, false, "x".repeat(INLINE_BYTES + 1));
        partition.setReplicas(1, new ReplicaSet(2, 1, 1, List.of(self, 2), List.of(self, 2)));
        partition.setLastLeaderLives(true);
        partition.setReplicas(1, new ReplicaSet(self, 2, 2, List.of(self, 2), List.of(self)));
        Outcome held = partition.stage(8, EPOCH, 0, false, "held");

        // when
        look(partition);

        // then
        assertThat(large.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(held.error()).isNull();
        partition.loop().fireTimers();
        assertThat(held.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("held");
    }

    @Test
    void shouldRejectAnInvalidBatchAndContinueWhenItIsValidatedOffTheLoop() throws IOException {
        // given
        SteppedPartition partition = open(null);

        // when
        Outcome bomb = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, 0, false, "x".repeat(ALLOWED_BYTES + 1));
        Outcome behind = partition.stage(8, EPOCH, 0, false, "behind");
        look(partition);

        // then
        assertThat(bomb.error()).isEqualTo(ErrorCode.MESSAGE_TOO_LARGE);
        assertThat(behind.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.readCommitted(0, ALL)).containsExactly("behind");
    }

    @Test
    void shouldGoOnBehindABatchWhenDecidingAboutItFails() throws IOException {
        // given a batch that is validated off the loop, another one, and one behind them
        SteppedPartition partition = open(null);
        FailingOnce large = new FailingOnce("x".repeat(ALLOWED_BYTES + 1), CompressionCodec.ZSTD);
        FailingOnce small = new FailingOnce("x".repeat(ALLOWED_BYTES + 1), CompressionCodec.NONE);
        partition.host().append(large);
        partition.host().append(small);
        Outcome behind = partition.stage(8, EPOCH, 0, false, "behind");

        // when the decision on the first two fails
        look(partition);

        // then they are rejected, and the batches behind them, then and later, are appended
        assertThat(large.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(small.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(behind.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.append(8, EPOCH, 1, false, "later").error()).isEqualTo(ErrorCode.NONE);
    }

    /** An append that is rejected because of its size; the first attempt to reject it fails. */
    private static final class FailingOnce extends Append {
        private boolean failed;

        FailingOnce(String value, CompressionCodec codec) {
            super(batch(value, codec), PRODUCE_VERSION);
        }

        static ByteBuf batch(String value, CompressionCodec codec) {
            try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, codec)) {
                builder.append(0, null, value.getBytes(StandardCharsets.UTF_8), List.of());
                return builder.build();
            }
        }

        @Override
        protected boolean isAwaited() {
            return true;
        }

        @Override
        protected void onDecided() {
            if (!failed) {
                failed = true;
                throw new AssertionError("a simulated defect");
            }
            records().release();
        }
    }

    @Test
    void shouldGoOnBehindABatchWhoseCodecCannotBeLoaded() throws IOException {
        // given a batch that is validated off the loop, and one behind it
        SteppedPartition partition = open(null);
        Unloadable large = new Unloadable("x".repeat(INLINE_BYTES + 1));
        partition.host().append(large);
        Outcome behind = partition.stage(8, EPOCH, 0, false, "behind");

        // when
        large.records.unloadable = true;
        look(partition);

        // then it is rejected, and those behind it, then and later, are appended, also off the loop
        assertThat(large.error()).isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR);
        assertThat(behind.error()).isEqualTo(ErrorCode.NONE);
        Outcome later = partition.stage(CompressionCodec.ZSTD, 8, EPOCH, 1, false, "x".repeat(INLINE_BYTES + 1));
        look(partition);
        assertThat(later.error()).isEqualTo(ErrorCode.NONE);
    }

    /** An append that cannot be read off the loop, as if the library of its codec were missing. */
    private static final class Unloadable extends Append {
        private final UnloadableBytes records;

        Unloadable(String value) {
            this(new UnloadableBytes(FailingOnce.batch(value, CompressionCodec.ZSTD)));
        }

        private Unloadable(UnloadableBytes records) {
            super(records, PRODUCE_VERSION);
            this.records = records;
        }

        @Override
        protected void onDecided() {
            records.release();
        }
    }

    private static final class UnloadableBytes extends UnpooledHeapByteBuf {
        private boolean unloadable;

        UnloadableBytes(ByteBuf copied) {
            super(UnpooledByteBufAllocator.DEFAULT, copied.readableBytes(), copied.readableBytes());
            writeBytes(copied);
            copied.release();
        }

        @Override
        public int getInt(int index) {
            if (unloadable) {
                throw new NoClassDefFoundError("Could not initialize class com.github.luben.zstd.Zstd");
            }
            return super.getInt(index);
        }

        @Override
        public byte getByte(int index) {
            if (unloadable) {
                throw new NoClassDefFoundError("Could not initialize class com.github.luben.zstd.Zstd");
            }
            return super.getByte(index);
        }
    }

    @Test
    void shouldRefuseWhatWaitsWhenThePartitionLeaves() throws IOException {
        // given
        SteppedPartition partition = open(null);
        Outcome large = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, 0, false, "x".repeat(INLINE_BYTES + 1));
        Outcome behind = partition.stage(8, EPOCH, 0, false, "behind");

        // when the partition closes during the validation
        partition.host().close();

        // then the batch is not released while it is read, but after the validation
        assertThat(large.error()).isNull();
        look(partition);
        assertThat(large.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
        assertThat(behind.error()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldNotLookIntoWhatWaitsWhenNobodyWaitsForIt() throws IOException {
        // given
        SteppedPartition partition = open(null);
        String large = "x".repeat(INLINE_BYTES + 1);
        Outcome first = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, 0, false, large);
        Outcome second = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, 1, false, large);

        // when the client disconnects during the validation of its first batch
        partition.clientsLeave();
        look(partition);

        // then that one is appended, and the other one is not validated
        assertThat(first.error()).isEqualTo(ErrorCode.NONE);
        assertThat(second.error()).isEqualTo(ErrorCode.NETWORK_EXCEPTION);
        assertThat(partition.counters().validatedOffLoop()).isEqualTo(1);
    }

    @Test
    void shouldValidateSmallBatchesOffTheLoopWhenTheyExceedWhatAnIterationAllows() throws IOException {
        // given batches far beyond the usual ratio, none of them large
        SteppedPartition partition = open(null);
        String value = "x".repeat(INLINE_BYTES / 2);
        int inFlight = 20;

        // when as many arrive in one iteration as a producer has in flight
        for (int i = 0; i < inFlight; i++) {
            partition.stage(CompressionCodec.ZSTD, 7, EPOCH, i, false, value);
        }
        partition.loop().run();

        // then the loop validates all of them
        assertThat(blocking).isEmpty();
        assertThat(partition.host().log().highWatermark()).isEqualTo(inFlight);

        // but when more arrive, only as many as its budget allows
        int many = 40;
        Outcome[] outcomes = new Outcome[many];
        for (int i = 0; i < many; i++) {
            outcomes[i] = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, inFlight + i, false, value);
        }
        partition.loop().run();
        assertThat(outcomes[inFlight - 1].error()).isEqualTo(ErrorCode.NONE);
        assertThat(outcomes[many - 1].error()).isNull();
        look(partition);
        assertThat(outcomes[many - 1].offset()).isEqualTo(inFlight + many - 1);

        // and the next iteration has a new budget
        Outcome next = partition.stage(CompressionCodec.ZSTD, 7, EPOCH, inFlight + many, false, value);
        partition.loop().run();
        assertThat(blocking).isEmpty();
        assertThat(next.error()).isEqualTo(ErrorCode.NONE);
        assertThat(partition.readCommitted(0, ALL)).hasSize(inFlight + many + 1).containsOnly(value);
    }

    @Test
    void shouldRecompressLargeBatchesOffTheLoopWhenTheTopicHasAnotherCompression() throws IOException {
        // given
        SteppedPartition partition = open(CompressionCodec.GZIP);
        String value = "x".repeat(INLINE_BYTES / 10);

        // when
        Outcome large = partition.stage(7, EPOCH, 0, false, value);
        Outcome small = partition.stage(7, EPOCH, 1, false, "small");
        partition.loop().run();

        // then
        assertThat(large.error()).isNull();
        assertThat(small.error()).isNull();
        look(partition);
        assertThat(small.offset()).isEqualTo(1);
        assertThat(partition.readCommitted(0, ALL)).containsExactly(value, "small");
        assertThat(partition.host().journal().sizeBytes()).isLessThan(INLINE_BYTES / 10);
    }
}
