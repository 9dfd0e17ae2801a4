package io.journalq.server.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/** Has a connection's socket read where its {@link FrameDecoder} wants the bytes. On the connection's loop. */
record FrameReads(FrameDecoder decoder, RecvByteBufAllocator usual) implements RecvByteBufAllocator {
    @Override
    @SuppressWarnings("deprecation") // as the interface it implements; the handles that epoll takes are these
    public Handle newHandle() {
        return new DecoderHandle(decoder, (ExtendedHandle) usual.newHandle());
    }

    private static final class DecoderHandle extends DelegatingHandle implements ExtendedHandle {
        private final FrameDecoder decoder;

        private DecoderHandle(FrameDecoder decoder, ExtendedHandle usual) {
            super(usual);
            this.decoder = decoder;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            try {
                ByteBuf target = decoder.nextTarget(allocator);
                return target == null ? delegate().allocate(allocator) : target;
            } catch (OutOfMemoryError noDirectMemory) {
                throw new MemoryShortage(noDirectMemory);
            }
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
            return ((ExtendedHandle) delegate()).continueReading(maybeMoreData);
        }
    }
}
