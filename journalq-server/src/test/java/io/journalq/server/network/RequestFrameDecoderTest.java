package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class RequestFrameDecoderTest {
    private static final int MAX_FRAME_BYTES = 1_000_000;

    private final InFlightBudget budget = new InFlightBudget(16L << 20);
    private final MemoryShare shared = new MemoryShare(16L << 20);
    private final List<String> refusals = new ArrayList<>();
    private final List<Integer> partBytes = new ArrayList<>();
    private final ReceiveLowWatermark lowWater = new ReceiveLowWatermark(new NetworkCounters(), true);

    private RequestFrameDecoder decoder() {
        return new RequestFrameDecoder(
                refusals::add,
                reason -> {},
                partBytes::add,
                () -> {},
                shortage -> {},
                MAX_FRAME_BYTES,
                new FrameReservation(budget, shared, Runnable::run, () -> {}),
                lowWater);
    }

    @Test
    void shouldCutTheSameFramesWhereverTheReadsEnd() {
        // given frames of many sizes
        Random random = new Random(42);
        int[] sizes = {0, 5, 100, 70_000, 4, 300_000, 300_001, 17, 900_000, 1};
        ByteBuf all = Unpooled.buffer();
        for (int size : sizes) {
            byte[] body = new byte[size];
            random.nextBytes(body);
            all.writeInt(size).writeBytes(body);
        }
        for (int round = 0; round < 50; round++) {
            RequestFrameDecoder decoder = decoder();
            EmbeddedChannel channel = new EmbeddedChannel(decoder);
            boolean asked = round % 2 == 0;
            // when they arrive in pieces, which are read into the decoder's buffer or into another one
            ByteBuf bytes = all.duplicate();
            while (bytes.isReadable()) {
                int most = 1 + random.nextInt(pieceLimit(round, random));
                ByteBuf target = asked ? decoder.nextTarget(PooledByteBufAllocator.DEFAULT) : null;
                ByteBuf piece = target == null ? PooledByteBufAllocator.DEFAULT.directBuffer(most, most) : target;
                bytes.readBytes(piece, Math.min(Math.min(most, piece.writableBytes()), bytes.readableBytes()));
                channel.writeInbound(piece);
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
        assertThat(budget.usedBytes()).as("all memory is given back").isZero();
        assertThat(refusals).isEmpty();
    }

    /** Two rounds cut the frames into tiny pieces, with a larger one now and then, so that they end soon. */
    private static int pieceLimit(int round, Random random) {
        if (round < 2) {
            return random.nextInt(50) == 0 ? 5_000 : 9;
        }
        return 100_000;
    }

    @Test
    void shouldNeverAwaitMoreThanTheRestOfTheFrameThatIsComing() {
        // given frames, and the end of each of them
        Random random = new Random(7);
        ByteBuf all = Unpooled.buffer();
        NavigableSet<Integer> ends = new TreeSet<>();
        for (int i = 0; i < 500; i++) {
            int size = random.nextInt(random.nextInt(10) == 0 ? 60_000 : 300);
            all.writeInt(size).writeZero(size);
            ends.add(all.writerIndex());
        }
        RequestFrameDecoder decoder = decoder();
        EmbeddedChannel channel = new EmbeddedChannel(decoder, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object frame) {
                ((ByteBuf) frame).release();
                if (random.nextInt(5) == 0) {
                    decoder.hold();
                }
            }
        });
        // when they arrive in pieces, while the connection sometimes accepts none
        int awaited = 0;
        while (all.isReadable()) {
            int most = 1 + random.nextInt(random.nextBoolean() ? 5 : 2_000);
            ByteBuf target = decoder.nextTarget(PooledByteBufAllocator.DEFAULT);
            ByteBuf piece = target == null ? PooledByteBufAllocator.DEFAULT.directBuffer(most, most) : target;
            all.readBytes(piece, Math.min(Math.min(most, piece.writableBytes()), all.readableBytes()));
            channel.writeInbound(piece);
            // then the decoder never waits for more bytes than the frame has
            int toTheEnd = ends.ceiling(all.readerIndex()) - all.readerIndex();
            assertThat(lowWater.bytes()).isBetween(1, Math.max(1, toTheEnd));
            awaited += lowWater.bytes() > 1 ? 1 : 0;
            if (random.nextInt(10) == 0) {
                decoder.hold();
            }
            while (random.nextInt(3) == 0) {
                decoder.goOn();
                assertThat(lowWater.bytes()).isBetween(1, Math.max(1, toTheEnd));
            }
        }
        assertThat(awaited).isGreaterThan(100);
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldNotReadBeyondTheFrameIntoItsBuffer() {
        RequestFrameDecoder decoder = decoder();
        EmbeddedChannel channel = new EmbeddedChannel(decoder);

        channel.writeInbound(Unpooled.buffer().writeInt(100_000).writeZero(100));

        ByteBuf target = decoder.nextTarget(PooledByteBufAllocator.DEFAULT);
        assertThat(target.capacity()).isEqualTo(99_900);
        target.release();
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldReadALargeFrameInPartsThatMakeUpATurnEach() {
        // given the beginning of a frame of almost three turns
        RequestFrameDecoder decoder = decoder();
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        channel.writeInbound(Unpooled.buffer().writeInt(700_000).writeZero(100));

        // when all of the rest may be read
        List<Integer> reads = new ArrayList<>();
        ByteBuf frame = null;
        while (frame == null) {
            ByteBuf target = decoder.nextTarget(PooledByteBufAllocator.DEFAULT);
            reads.add(target.capacity());
            channel.writeInbound(target.writeZero(target.capacity()));
            frame = channel.readInbound();
        }

        // then
        assertThat(reads)
                .containsExactly(
                        FairScheduler.SHARE_BYTES, FairScheduler.SHARE_BYTES, 699_900 - 2 * FairScheduler.SHARE_BYTES);
        assertThat(partBytes).containsExactly(FairScheduler.SHARE_BYTES, FairScheduler.SHARE_BYTES);
        assertThat(frame.readableBytes()).isEqualTo(700_000);
        frame.release();
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldWaitForMemoryWhenOthersHoldAllOfIt() {
        // given more connections than there is memory for
        int announcedBytes = 900_000;
        int connections = 40;
        List<RequestFrameDecoder> decoders = new ArrayList<>();
        List<EmbeddedChannel> channels = new ArrayList<>();
        // when each sends the beginning of a frame
        for (int i = 0; i < connections; i++) {
            decoders.add(decoder());
            channels.add(new EmbeddedChannel(decoders.get(i)));
            channels.get(i)
                    .writeInbound(Unpooled.buffer().writeInt(announcedBytes).writeZero(1));
        }
        // then one frame is begun beyond the budget, like any request, and the others wait
        assertThat(budget.usedBytes()).isBetween(16L << 20, (16L << 20) + announcedBytes + Integer.BYTES);
        assertThat(decoders.stream().filter(RequestFrameDecoder::isWithinFrame)).hasSize(19);
        assertThat(decoders.stream().filter(RequestFrameDecoder::isWaiting)).hasSize(21);
        // when the connections with begun frames are closed
        channels.subList(0, 19).forEach(EmbeddedChannel::finishAndReleaseAll);
        decoders.subList(19, connections).forEach(RequestFrameDecoder::goOn);
        // then
        assertThat(decoders.stream().filter(RequestFrameDecoder::isWithinFrame)).hasSize(19);
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldPassOnAnEmptyFrameThatHadToWaitForMemory() {
        // given an empty frame whose length arrives in two parts while others hold all of the memory
        long others = (16L << 20) + 1;
        budget.take(others);
        RequestFrameDecoder decoder = decoder();
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        channel.writeInbound(Unpooled.buffer().writeShort(0));
        channel.writeInbound(Unpooled.buffer().writeShort(0));
        assertThat(channel.<Object>readInbound()).isNull();

        // when there is memory again, and another frame follows
        budget.giveBack(others);
        decoder.goOn();
        channel.writeInbound(Unpooled.buffer().writeInt(1).writeByte(7));

        // then
        for (int size = 0; size < 2; size++) {
            ByteBuf frame = channel.readInbound();
            assertThat(frame.readableBytes()).isEqualTo(size);
            frame.release();
        }
        channel.finishAndReleaseAll();
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    void shouldCutNothingMoreWhenItIsHeldUntilItGoesOn() {
        // given a read of many frames, and one more frame that ends later
        RequestFrameDecoder decoder = decoder();
        List<Integer> taken = new ArrayList<>();
        ChannelInboundHandlerAdapter takesTwo = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object frame) {
                taken.add(((ByteBuf) frame).readInt());
                ((ByteBuf) frame).release();
                if (taken.size() % 2 == 0) {
                    decoder.hold();
                }
            }
        };
        EmbeddedChannel channel = new EmbeddedChannel(decoder, takesTwo);
        ByteBuf first = Unpooled.buffer();
        for (int i = 0; i < 5; i++) {
            first.writeInt(Integer.BYTES).writeInt(i);
        }
        first.writeInt(Integer.BYTES).writeShort(0);

        // when
        channel.writeInbound(first);
        channel.writeInbound(Unpooled.buffer().writeShort(5));

        // then
        assertThat(taken).containsExactly(0, 1);
        assertThat(decoder.nextTarget(PooledByteBufAllocator.DEFAULT)).isNull();
        decoder.goOn();
        assertThat(taken).containsExactly(0, 1, 2, 3);
        decoder.goOn();
        assertThat(taken).containsExactly(0, 1, 2, 3, 4, 5);
        assertThat(first.refCnt()).isZero();
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldGiveBackWhatItHoldsWhenItsConnectionEnds() {
        RequestFrameDecoder decoder = decoder();
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        ByteBuf arrived = Unpooled.buffer().writeInt(1).writeByte(7);
        decoder.hold();

        channel.writeInbound(arrived);
        assertThat(arrived.refCnt()).isEqualTo(1);
        channel.finishAndReleaseAll();

        assertThat(arrived.refCnt()).isZero();
    }

    @Test
    void shouldRefuseALengthBeyondTheLimitOrNegative() {
        for (int length : new int[] {-1, MAX_FRAME_BYTES + 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            for (int firstBytes = 1; firstBytes <= Integer.BYTES; firstBytes++) {
                RequestFrameDecoder decoder = decoder();
                EmbeddedChannel channel = new EmbeddedChannel(decoder);
                ByteBuf bytes = Unpooled.buffer().writeInt(length).writeZero(10);

                channel.writeInbound(bytes.readRetainedSlice(firstBytes));
                channel.writeInbound(bytes);

                assertThat(refusals).hasSize(1).first().asString().contains("a frame of " + length + " bytes");
                assertThat(decoder.nextTarget(PooledByteBufAllocator.DEFAULT)).isNull();
                assertThat(channel.<Object>readInbound()).isNull();
                refusals.clear();
                channel.finishAndReleaseAll();
            }
        }
    }
}
