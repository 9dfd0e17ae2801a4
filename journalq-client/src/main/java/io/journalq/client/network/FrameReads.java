package io.journalq.client.network;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/** Has a connection's socket read into the frame that its {@link FrameDecoder} gathers. On the event loop. */
record FrameReads(FrameDecoder decoder, RecvByteBufAllocator usual) implements RecvByteBufAllocator {
    @Override
    @SuppressWarnings("deprecation") // as the interface it implements; the handles that epoll takes are these
    public Handle newHandle() {
        return new FrameHandle(decoder, (ExtendedHandle) usual.newHandle());
    }

    private static final class FrameHandle extends DelegatingHandle implements ExtendedHandle {
        private final FrameDecoder decoder;

        private FrameHandle(FrameDecoder decoder, ExtendedHandle usual) {
            super(usual);
            this.decoder = decoder;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            ByteBuf target = decoder.nextTarget();
            return target == null ? delegate().allocate(allocator) : target;
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
            return ((ExtendedHandle) delegate()).continueReading(maybeMoreData);
        }
    }
}
