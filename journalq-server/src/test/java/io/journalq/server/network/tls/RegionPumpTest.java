package io.journalq.server.network.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.FairScheduler;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.network.TestLoopContext;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("FutureReturnValueIgnored") // the tests look at the effects of writes
class RegionPumpTest {
    private static final int FILE_BYTES = 3 << 20;
    private static final int RESPONSE_MEMORY_BYTES = 8 << 20;

    @TempDir
    private Path directory;

    private final byte[] content = new byte[FILE_BYTES];
    private final SteppedLoop loop = new SteppedLoop();
    private final SharedMemory memory = SharedMemory.of(8 << 20, RESPONSE_MEMORY_BYTES);
    private final LoopContext context = TestLoopContext.of(loop, memory, new NetworkCounters());
    private final SlowSocket socket = new SlowSocket();
    private final List<Throwable> failures = new ArrayList<>();
    private final RegionPump pump = new RegionPump(context);
    private final EmbeddedChannel channel = new EmbeddedChannel(socket, pump, new ChannelInboundHandlerAdapter() {
        @Override
        public void exceptionCaught(ChannelHandlerContext handlerContext, Throwable cause) {
            failures.add(cause);
        }
    });
    private FileChannel file;

    /** Keeps what is written until the test lets the client read it. */
    private static final class SlowSocket extends ChannelOutboundHandlerAdapter {
        private final ArrayDeque<ByteBuf> buffers = new ArrayDeque<>();
        private final ArrayDeque<ChannelPromise> promises = new ArrayDeque<>();
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private int largestBytes;

        @Override
        public void write(ChannelHandlerContext handlerContext, Object message, ChannelPromise promise) {
            ByteBuf buffer = (ByteBuf) message;
            largestBytes = Math.max(largestBytes, buffer.readableBytes());
            buffers.add(buffer);
            promises.add(promise);
        }

        @Override
        public void flush(ChannelHandlerContext handlerContext) {
            // The client reads when the test says so.
        }

        @Override
        public void close(ChannelHandlerContext handlerContext, ChannelPromise promise) throws Exception {
            while (!buffers.isEmpty()) {
                buffers.poll().release();
                fail(promises.poll());
            }
            super.close(handlerContext, promise);
        }

        private static void fail(ChannelPromise promise) {
            if (!promise.isVoid()) {
                promise.tryFailure(new ClosedChannelException());
            }
        }

        int waitingBytes() {
            return buffers.stream().mapToInt(ByteBuf::readableBytes).sum();
        }

        /** The client reads one buffer. */
        void readOne() throws IOException {
            ByteBuf buffer = buffers.poll();
            buffer.readBytes(received, buffer.readableBytes());
            buffer.release();
            ChannelPromise promise = promises.poll();
            if (!promise.isVoid()) {
                promise.setSuccess();
            }
        }
    }

    @BeforeEach
    void write() throws IOException {
        new Random(1).nextBytes(content);
        Path path = Files.write(directory.resolve("records"), content);
        file = FileChannel.open(path);
    }

    @AfterEach
    void close() throws IOException {
        channel.finishAndReleaseAll();
        file.close();
        assertThat(memory.responseBytes()).isZero();
    }

    @Test
    void shouldPassOnEverythingInOrderWhenRegionsAndBuffersAlternate() throws IOException {
        // given
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        List<FileRegion> regions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            byte[] head = ("head " + i).getBytes(StandardCharsets.UTF_8);
            expected.write(head);
            expected.write(content, i * 1_000, 700_000 + i);
            FileRegion region = region(i * 1_000, 700_000 + i);
            regions.add(region);
            channel.write(Unpooled.wrappedBuffer(head), channel.voidPromise());
            channel.write(region, channel.voidPromise());
        }
        assertThat(channel.isWritable()).isFalse();

        // when
        channel.flush();
        readEverything();

        // then
        assertThat(socket.received.toByteArray()).isEqualTo(expected.toByteArray());
        assertThat(socket.largestBytes).isEqualTo(RegionPump.CHUNK_BYTES);
        assertThat(regions).allMatch(region -> region.refCnt() == 0);
        assertThat(pump.queuedBytes()).isZero();
        assertThat(channel.isWritable()).isTrue();
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldReadTwoChunksAheadWhenTheClientReadsNothing() throws IOException {
        // given
        channel.write(region(0, FILE_BYTES));
        channel.write(Unpooled.wrappedBuffer(new byte[10]));

        // when
        for (int i = 0; i < 10; i++) {
            channel.flush();
            runLoop();
        }

        // then
        assertThat(socket.waitingBytes()).isEqualTo(RegionPump.MAX_AHEAD_BYTES);
        assertThat(memory.responseBytes()).isEqualTo(RegionPump.MAX_AHEAD_BYTES);
        assertThat(pump.queuedBytes()).isEqualTo(FILE_BYTES + 10 - RegionPump.MAX_AHEAD_BYTES);
        assertThat(channel.isWritable()).isFalse();

        // and each chunk that the client reads makes room for one
        socket.readOne();
        runLoop();
        assertThat(socket.waitingBytes()).isEqualTo(RegionPump.MAX_AHEAD_BYTES);
    }

    @Test
    void shouldLetOtherConnectionsContinueWhenItsShareIsUsed() throws IOException {
        // given a client that reads at once
        channel.write(region(0, FILE_BYTES));
        channel.flush();
        boolean[] continued = new boolean[1];
        context.turns().await(() -> {
            continued[0] = true;
            return FairScheduler.SHARE_BYTES;
        });

        // when
        while (!socket.buffers.isEmpty()) {
            socket.readOne();
        }

        // then
        assertThat(socket.received.size()).isEqualTo(FairScheduler.SHARE_BYTES);
        runLoop();
        assertThat(continued[0]).isTrue();
        readEverything();
        assertThat(socket.received.toByteArray()).isEqualTo(content);
    }

    @Test
    void shouldHoldOneShortChunkWhenTheMemoryForResponsesIsFull() throws IOException {
        // given
        memory.takeForResponse(RESPONSE_MEMORY_BYTES);
        channel.write(region(0, FILE_BYTES));

        // when
        channel.flush();

        // then
        assertThat(socket.waitingBytes()).isEqualTo(16 * 1024);
        socket.readOne();
        assertThat(socket.waitingBytes()).isEqualTo(16 * 1024);
        memory.giveBackFromResponse(RESPONSE_MEMORY_BYTES);
        readEverything();
        assertThat(socket.received.toByteArray()).isEqualTo(content);
    }

    @Test
    void shouldReleaseEverythingWhenTheConnectionEndsWithinARegion() {
        // given
        FileRegion first = region(0, FILE_BYTES);
        FileRegion second = region(0, FILE_BYTES);
        ChannelPromise promise = channel.newPromise();
        ByteBuf behind = Unpooled.wrappedBuffer(new byte[10]);
        channel.write(first, channel.voidPromise());
        channel.write(behind, promise);
        channel.write(second, channel.voidPromise());
        channel.flush();

        // when
        channel.close();

        // then
        assertThat(first.refCnt()).isZero();
        assertThat(second.refCnt()).isZero();
        assertThat(behind.refCnt()).isZero();
        assertThat(promise.cause()).isInstanceOf(ClosedChannelException.class);
        assertThat(pump.queuedBytes()).isZero();
        assertThat(memory.responseBytes()).isZero();
    }

    @Test
    void shouldFailTheConnectionWhenTheFileIsShorterThanTheRegion() throws IOException {
        // given
        FileRegion region = region(FILE_BYTES - 1_000, 2_000);
        FileRegion behind = region(0, 2_000);
        channel.write(region, channel.voidPromise());
        channel.write(behind, channel.voidPromise());

        // when
        channel.flush();

        // then
        assertThat(failures).singleElement().isInstanceOf(IOException.class);
        assertThat(region.refCnt()).isZero();
        assertThat(behind.refCnt()).isZero();
        assertThat(socket.buffers).isEmpty();
    }

    @Test
    void shouldFailOnlyItsConnectionWhenMemoryIsShortInItsTurn() throws IOException {
        // given a client that has used its share
        FileRegion region = region(0, FILE_BYTES);
        channel.write(region, channel.voidPromise());
        channel.flush();
        while (!socket.buffers.isEmpty()) {
            socket.readOne();
        }
        boolean[] continued = new boolean[1];
        context.turns().await(() -> {
            continued[0] = true;
            return 0;
        });

        // when
        channel.config().setAllocator(new PooledByteBufAllocator(false) {
            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                throw new OutOfMemoryError("no direct memory");
            }
        });
        runLoop();

        // then
        assertThat(failures).singleElement().isInstanceOf(OutOfMemoryError.class);
        assertThat(region.refCnt()).isZero();
        assertThat(continued[0]).isTrue();
    }

    @Test
    void shouldLeakNoChunkWhenMemoryRunsOutWhileItIsFilled() {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
        channel.config().setAllocator(allocator);

        channel.writeAndFlush(new DefaultFileRegion(file, 0, 1_000_000) {
            @Override
            public long transferTo(WritableByteChannel target, long position) {
                throw new OutOfMemoryError("no memory for a temporary buffer");
            }

            @Override
            protected void deallocate() {
                // The file stays open.
            }
        });

        assertThat(failures).singleElement().isInstanceOf(OutOfMemoryError.class);
        assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    private FileRegion region(int position, int sizeBytes) {
        return new DefaultFileRegion(file, position, sizeBytes) {
            @Override
            protected void deallocate() {
                // The file stays open.
            }
        };
    }

    private void readEverything() throws IOException {
        do {
            while (!socket.buffers.isEmpty()) {
                socket.readOne();
            }
            runLoop();
        } while (!socket.buffers.isEmpty());
    }

    private void runLoop() {
        loop.run();
        channel.runPendingTasks();
    }
}
