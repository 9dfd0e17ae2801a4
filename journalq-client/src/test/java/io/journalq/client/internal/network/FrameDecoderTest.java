package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.ConnectionFailedException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class FrameDecoderTest {
    private static final int MAX_FRAME_BYTES = 1_000_000;

    @Test
    void shouldCutTheSameFramesWhereverTheReadsEnd() {
        // given frames of many sizes
        Random random = new Random(42);
        int[] sizes = {4, 5, 100, 70_000, 4, 300_000, 17};
        ByteBuf all = Unpooled.buffer();
        for (int size : sizes) {
            byte[] body = new byte[size];
            random.nextBytes(body);
            all.writeInt(size).writeBytes(body);
        }
        for (int round = 0; round < 50; round++) {
            EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(MAX_FRAME_BYTES));
            // when they come in pieces
            ByteBuf bytes = all.duplicate();
            while (bytes.isReadable()) {
                int piece = round == 0 ? 1 + random.nextInt(9) : 1 + random.nextInt(100_000);
                channel.writeInbound(Unpooled.copiedBuffer(bytes.readSlice(Math.min(piece, bytes.readableBytes()))));
            }
            // then
            int at = 0;
            for (int size : sizes) {
                ByteBuf frame = channel.readInbound();
                assertThat(frame).isEqualTo(all.slice(at + Integer.BYTES, size));
                frame.release();
                at += Integer.BYTES + size;
            }
            assertThat(channel.finish()).isFalse();
        }
    }

    @Test
    void shouldReadIntoTheFrameThatIsGatheredWhateverTheSocketGives() {
        // given a frame that grows several times, and small ones around it
        Random random = new Random(7);
        int[] sizes = {20, 3_000_000, 5, 900_000, 4};
        ByteBuf all = Unpooled.buffer();
        for (int size : sizes) {
            byte[] body = new byte[size];
            random.nextBytes(body);
            all.writeInt(size).writeBytes(body);
        }
        for (int most : new int[] {900, 70_000, 1_000_000}) {
            FrameDecoder decoder = new FrameDecoder(3 * MAX_FRAME_BYTES);
            EmbeddedChannel channel = new EmbeddedChannel(decoder);
            // when the socket is read where the decoder wants it
            ByteBuf bytes = all.duplicate();
            while (bytes.isReadable()) {
                ByteBuf into = decoder.allocate(UnpooledByteBufAllocator.DEFAULT, socketReads(most));
                int piece = Math.min(1 + random.nextInt(most), Math.min(into.writableBytes(), bytes.readableBytes()));
                channel.writeInbound(into.writeBytes(bytes, piece));
            }
            // then
            int at = 0;
            for (int size : sizes) {
                ByteBuf frame = channel.readInbound();
                assertThat(frame).isEqualTo(all.slice(at + Integer.BYTES, size));
                assertThat(frame.release()).isTrue();
                at += Integer.BYTES + size;
            }
            assertThat(channel.finish()).isFalse();
        }
    }

    @Test
    void shouldFailWhenALengthIsBeyondTheLimitOrNegative() {
        for (int length : new int[] {-1, 3, MAX_FRAME_BYTES + 1, Integer.MAX_VALUE}) {
            EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(MAX_FRAME_BYTES));
            assertThatThrownBy(() -> channel.writeInbound(Unpooled.buffer().writeInt(length)))
                    .isInstanceOf(ConnectionFailedException.class);
            channel.finishAndReleaseAll();
        }
    }

    @SuppressWarnings("deprecation") // the interface returns the deprecated type
    private static RecvByteBufAllocator.ExtendedHandle socketReads(int sizeBytes) {
        return (RecvByteBufAllocator.ExtendedHandle) new FixedRecvByteBufAllocator(sizeBytes).newHandle();
    }
}
