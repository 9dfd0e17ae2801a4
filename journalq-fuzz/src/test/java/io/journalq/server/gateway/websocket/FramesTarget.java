package io.journalq.server.gateway.websocket;

import io.journalq.fuzz.FuzzTarget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * Frames of WebSockets. First byte: size of the parts in which the rest arrives. The parts must not change what is read,
 * and the memory must stay within what has arrived.
 */
public final class FramesTarget implements FuzzTarget {
    private static final int MAX_SLACK_BYTES = 16 * 1024;

    @Override
    public String name() {
        return "websocket-frames";
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(
                new byte[] {3, (byte) 0x81, (byte) 0x82, 1, 2, 3, 4, 'z', 'y'},
                new byte[] {
                    0,
                    0x01,
                    (byte) 0x81,
                    1,
                    2,
                    3,
                    4,
                    'a',
                    (byte) 0x89,
                    (byte) 0x80,
                    0,
                    0,
                    0,
                    0,
                    (byte) 0x80,
                    (byte) 0x80,
                    0,
                    0,
                    0,
                    0
                },
                new byte[] {9, (byte) 0x82, (byte) 0xfe, 0, 126, 0, 0, 0, 0, 1, 2, 3},
                new byte[] {9, (byte) 0x88, (byte) 0x82, 0, 0, 0, 0, 3, (byte) 0xe8});
    }

    @Override
    public long maxAllocatedBytes(int inputSizeBytes) {
        return 8L << 20;
    }

    @Override
    public void run(byte[] input) {
        if (input.length < 2) {
            return;
        }
        List<String> whole = read(input, input.length);
        List<String> parts = read(input, 1 + (input[0] & 0xff));
        if (!whole.equals(parts)) {
            throw new AssertionError("whole " + whole + ", in parts " + parts);
        }
    }

    private static List<String> read(byte[] input, int partBytes) {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);
        List<String> read = new ArrayList<>();
        try (MessageAssembler assembler = new MessageAssembler(allocator, new Recorder(read))) {
            int index = 1;
            while (index < input.length) {
                int count = Math.min(partBytes, input.length - index);
                ByteBuf part = Unpooled.wrappedBuffer(input, index, count);
                while (part.isReadable()) {
                    assembler.read(part);
                }
                index += count;
            }
            long usedBytes =
                    allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory();
            if (usedBytes > 2L * input.length + MAX_SLACK_BYTES) {
                throw new AssertionError(usedBytes + " bytes for " + input.length);
            }
        } catch (MessageAssembler.ProtocolException violation) {
            read.add(violation.getMessage());
        }
        if (allocator.metric().usedDirectMemory() + allocator.metric().usedHeapMemory() != 0) {
            throw new AssertionError("memory is leaked");
        }
        return read;
    }

    /** Writes down what arrives. */
    private record Recorder(List<String> read) implements MessageAssembler.Listener {
        @Override
        public void onFrame(int sizeBytes, boolean isLast) {
            read.add("frame " + sizeBytes + " " + isLast);
        }

        @Override
        public void onMessage(boolean isText, ByteBuf payload) {
            add(isText ? "text" : "binary", payload);
        }

        @Override
        public void onPing(ByteBuf payload) {
            add("ping", payload);
        }

        @Override
        public void onPong() {
            read.add("pong");
        }

        @Override
        public void onClose(ByteBuf payload) {
            add("close", payload);
        }

        private void add(String kind, ByteBuf payload) {
            read.add(kind + " " + payload.readableBytes() + " " + payload.hashCode());
            payload.release();
        }
    }
}
