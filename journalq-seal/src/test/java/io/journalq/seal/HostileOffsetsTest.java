package io.journalq.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.BatchSealer;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A broker that gives genuine batches and records other offsets than the sender and the log did. */
class HostileOffsetsTest {
    private static final int RECORDS = 10;
    private static final long BASE_OFFSET = 100;

    private SealedWorld world;

    @BeforeEach
    void open() throws IOException {
        world = new SealedWorld();
    }

    @AfterEach
    void close() {
        world.close();
    }

    /**
     * Consumers skip records before their position. If the batch were accepted, its records would never be seen, and the
     * batch after it would show no gap.
     */
    @Test
    void shouldRefuseABatchWhenItsOffsetsAreBelowTheBatchBeforeIt() {
        BatchSealer sealer = world.sealer();
        BatchOpener opener =
                world.policy(world.readerVault).refuseGaps().build().opener(world.keys);
        TopicPartition orders = SealedWorld.ORDERS;
        SealedWorld.open(opener, orders, seal(sealer, orders, 100));

        assertRefused(Reason.WRONG_ORDER, opener, orders, seal(sealer, orders, 0));
        assertRefused(Reason.MISSING_BATCHES, opener, orders, seal(sealer, orders, 110));
        opener.close();
    }

    private static void assertRefused(Reason reason, BatchOpener opener, TopicPartition partition, byte[] sealed) {
        assertThatThrownBy(() -> SealedWorld.open(opener, partition, sealed))
                .isInstanceOfSatisfying(SealViolationException.class, violation -> assertThat(violation.reason())
                        .isEqualTo(reason));
    }

    private static byte[] seal(BatchSealer sealer, TopicPartition partition, long baseOffset) {
        return SealedWorld.seal(sealer, partition, SealedWorld.batch(CompressionCodec.NONE, RECORDS, 5), baseOffset);
    }

    /** The position is at offset 110, so that the first five records would be skipped. */
    @Test
    void shouldRefuseABatchWhenItBeginsBeforeTheCommittedOffset() {
        BatchSealer sealer = world.sealer();
        BatchOpener opener = world.opener();
        TopicPartition orders = SealedWorld.ORDERS;
        SealedWorld.open(opener, orders, seal(sealer, orders, 100));
        BatchOpener restarted = world.opener();
        restarted.start(orders, 110, opener.state(orders));

        assertRefused(Reason.WRONG_ORDER, restarted, orders, seal(sealer, orders, 105));
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldOpenTheNextBatchOfASenderWhenRecordsBeforeItWereLost(SealMode mode) {
        TopicPartition partition = SealedWorld.topicOf(mode);
        BatchSealer sealer = world.sealer();
        BatchOpener opener =
                world.policy(world.readerVault).refuseGaps().build().opener(world.keys);
        SealedWorld.open(opener, partition, seal(sealer, partition, 100));
        SealedWorld.open(opener, partition, seal(sealer, partition, 110));
        SealedWorld.open(opener, partition, seal(sealer, partition, 120));

        // when the last two are lost, and the sender, whose batches were acknowledged, goes on
        opener.truncate(partition, 110);

        // then
        assertThat(SealedWorld.open(opener, partition, seal(sealer, partition, 110)))
                .hasSize(RECORDS);
        assertThat(SealedWorld.open(opener, partition, seal(sealer, partition, 120)))
                .hasSize(RECORDS);
        opener.close();
    }

    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldRefuseTheSameBatchesAsBeforeWhenALossIsOnlyClaimed(SealMode mode) {
        TopicPartition partition = SealedWorld.topicOf(mode);
        BatchSealer sealer = world.sealer();
        BatchOpener opener = world.opener();
        byte[] first = seal(sealer, partition, 100);
        byte[] second = seal(sealer, partition, 110);
        SealedWorld.open(opener, partition, first);
        SealedWorld.open(opener, partition, second);

        // when the position moves into a batch, then its records do not come again
        opener.truncate(partition, 115);
        assertRefused(Reason.WRONG_ORDER, opener, partition, second);

        // when it moves to the beginning of one, then batches do not come again
        opener.truncate(partition, 110);
        assertRefused(Reason.WRONG_ORDER, opener, partition, second);
        assertRefused(Reason.WRONG_ORDER, opener, partition, first);
        // and the next one is not hidden before the position
        byte[] third = seal(sealer, partition, 105);
        assertRefused(Reason.WRONG_ORDER, opener, partition, third);
        RecordBatch.setBaseOffset(Unpooled.wrappedBuffer(third), 0, 110);
        assertThat(SealedWorld.open(opener, partition, third)).hasSize(RECORDS);
    }

    @Test
    void shouldReportMissingBatchesWhenALossIsOnlyClaimed() {
        TopicPartition orders = SealedWorld.ORDERS;
        BatchSealer sealer = world.sealer();
        BatchOpener opener =
                world.policy(world.readerVault).refuseGaps().build().opener(world.keys);
        SealedWorld.open(opener, orders, seal(sealer, orders, 100));
        seal(sealer, orders, 110); // hidden

        opener.truncate(orders, 100);

        assertRefused(Reason.MISSING_BATCHES, opener, orders, seal(sealer, orders, 100));
        opener.close();
    }

    /** The position would come to lie within the batch, which may come again then. */
    @ParameterizedTest
    @EnumSource(SealMode.class)
    void shouldRefuseABatchWhenItEndsBeforeItsLastRecord(SealMode mode) {
        TopicPartition partition = SealedWorld.topicOf(mode);
        byte[] sealed = seal(world.sealer(), partition, BASE_OFFSET);
        Unpooled.wrappedBuffer(sealed).setInt(RecordBatch.LAST_OFFSET_DELTA, RECORDS / 2);

        assertRefused(Reason.MALFORMED, world.opener(), partition, sealed);
    }

    /** The position of the consumer is behind the batch, so that the records would be delivered a second time. */
    @ParameterizedTest
    @EnumSource(names = {"RECORD", "TOKEN", "SUBJECT"})
    void shouldRefuseRecordsWhenTheyComeAgainAtHigherOffsetsOfTheirBatch(SealMode mode) {
        TopicPartition partition = SealedWorld.topicOf(mode);
        BatchOpener opener = world.opener();
        byte[] sealed = seal(world.sealer(), partition, BASE_OFFSET);
        assertThat(SealedWorld.open(opener, partition, sealed)).hasSize(RECORDS);

        byte[] again = withOffsets(sealed, RECORDS);

        assertThatThrownBy(() -> SealedWorld.open(opener, partition, again)).isInstanceOf(SealViolationException.class);
    }

    /** Adds to the offset of each record. The base offset of the batch, the envelopes and the contents stay. */
    private static byte[] withOffsets(byte[] sealed, int moreOffsets) {
        byte[] changed = sealed.clone();
        ByteBuf batch = Unpooled.wrappedBuffer(changed);
        int count = RecordBatch.recordCount(batch, 0);
        int at = RecordBatch.HEADER_SIZE_BYTES;
        for (int i = 0; i < count; i++) {
            int length = 0;
            int shift = 0;
            byte part;
            do {
                part = batch.getByte(at++);
                length |= (part & 0x7F) << shift;
                shift += 7;
            } while (part < 0);
            // After the attributes and the delta of the time, which has one byte here.
            batch.setByte(at + 2, (i + moreOffsets) << 1);
            at += length >>> 1;
        }
        batch.setInt(RecordBatch.LAST_OFFSET_DELTA, moreOffsets + count - 1);
        return changed;
    }
}
