package io.journalq.server.gateway.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.RecordsFile;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.common.record.TransactionMarker;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WholeBatchesTest {
    /** The records do not begin at the beginning of their buffer or file. */
    private static final int BEFORE_BYTES = 17;

    @TempDir
    private Path directory;

    private static byte[] batch(int valueBytes) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1, (ByteBuf) null, Unpooled.wrappedBuffer(new byte[valueBytes]), List.of());
            return take(builder.build());
        }
    }

    private static byte[] marker() {
        return take(new TransactionMarker(4, (short) 2, false, 1).encode(UnpooledByteBufAllocator.DEFAULT, 1));
    }

    private static byte[] take(ByteBuf buffer) {
        try {
            return ByteBufUtil.getBytes(buffer);
        } finally {
            buffer.release();
        }
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private RecordsData records(boolean inFile, byte[] log) throws IOException {
        byte[] all = concat(new byte[BEFORE_BYTES], log);
        if (!inFile) {
            return RecordsData.of(Unpooled.wrappedBuffer(all).skipBytes(BEFORE_BYTES));
        }
        Path path = directory.resolve("log");
        Files.write(path, all);
        FileChannel channel = FileChannel.open(path);
        return RecordsData.of(new DefaultFileRegion(channel, BEFORE_BYTES, log.length), new RecordsFile() {
            @Override
            public void read(ByteBuffer target, int index) throws IOException {
                int wanted = target.remaining();
                assertThat(channel.read(target, (long) BEFORE_BYTES + index)).isEqualTo(wanted);
            }

            @Override
            public FileRegion region(int index, int sizeBytes) {
                return new DefaultFileRegion(channel, (long) BEFORE_BYTES + index, sizeBytes);
            }
        });
    }

    private static byte[] bytes(RecordsData part) throws IOException {
        if (part.buffer() != null) {
            return take(part.buffer());
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        part.region().transferTo(Channels.newChannel(out), 0);
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFindEachBatchAndCutPartsWhenBatchesHaveAnySize(boolean inFile) throws IOException {
        // given batches that are smaller and larger than a read of a file, so that reads end anywhere in them
        List<byte[]> batches = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            batches.add(batch(13 * i));
            batches.add(marker());
        }
        batches.add(batch(100_000));
        batches.add(batch(450));
        batches.add(marker());
        byte[] log = concat(batches.toArray(new byte[0][]));
        WholeBatches whole = new WholeBatches();

        for (int time = 0; time < 2; time++) {
            // when
            whole.reset(records(inFile, concat(log, Arrays.copyOf(batch(500), 400))));

            // then
            int at = 0;
            for (byte[] batch : batches) {
                assertThat(whole.next()).isTrue();
                assertThat(whole.index()).isEqualTo(at);
                at += batch.length;
                assertThat(whole.nextIndex()).isEqualTo(at);
                boolean control = RecordBatch.isControl(whole.log(), whole.logIndex());
                assertThat(control).isEqualTo(RecordBatch.isControl(Unpooled.wrappedBuffer(batch), 0));
                if (control) {
                    assertThat(TransactionMarker.read(whole.log(), whole.logIndex())
                                    .producerId())
                            .isEqualTo(4);
                }
                assertThat(bytes(whole.part(whole.index(), whole.nextIndex()))).isEqualTo(batch);
            }
            assertThat(whole.next()).as("an incomplete batch").isFalse();
            assertThat(bytes(whole.part(0, at))).isEqualTo(log);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseBytesThatCannotBeABatch(boolean inFile) throws IOException {
        byte[] oldMagic = batch(10);
        oldMagic[RecordBatch.MAGIC] = 1;
        byte[] negativeCount = batch(10);
        negativeCount[RecordBatch.RECORD_COUNT] = -1;
        for (byte[] wrong : List.of(oldMagic, negativeCount)) {
            WholeBatches whole = new WholeBatches();
            whole.reset(records(inFile, concat(batch(1_000), wrong)));
            assertThat(whole.next()).isTrue();
            assertThatThrownBy(whole::next).isInstanceOf(InvalidBatchException.class);
        }
    }

    @Test
    void shouldRefuseAControlBatchThatIsLargerThanAnyMarker() throws IOException {
        byte[] large = batch(10_000);
        large[RecordBatch.ATTRIBUTES + 1] = RecordBatch.CONTROL_FLAG;
        WholeBatches whole = new WholeBatches();
        whole.reset(records(true, large));
        assertThatThrownBy(whole::next).isInstanceOf(InvalidBatchException.class);
    }
}
