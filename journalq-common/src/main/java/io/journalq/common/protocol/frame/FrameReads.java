package io.journalq.common.protocol.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/**
 * Lets the frame decoder of a connection choose the buffer of each read of its socket. A decoder that is gathering a frame
 * returns the rest of that frame's buffer, so that the bytes are not copied. On the event loop of the connection.
 *
 * @param source chooses the buffers
 * @param usual sizes the buffers that the source does not choose, and decides how often a socket is read in a row
 */
public record FrameReads(Source source, RecvByteBufAllocator usual) implements RecvByteBufAllocator {
    /** Chooses the buffer of the next read. */
    @FunctionalInterface
    public interface Source {
        /**
         * Returns the buffer for the next read, or {@code usual.allocate(allocator)} if any buffer will do. The caller
         * releases it.
         */
        ByteBuf allocate(ByteBufAllocator allocator, ExtendedHandle usual);
    }

    @Override
    @SuppressWarnings(
            "deprecation") // the interface returns the deprecated type; epoll accepts only this kind of handle
    public Handle newHandle() {
        return new SourceHandle(source, (ExtendedHandle) usual.newHandle());
    }

    private static final class SourceHandle extends DelegatingHandle implements ExtendedHandle {
        private final Source source;
        private final ExtendedHandle usual;

        private SourceHandle(Source source, ExtendedHandle usual) {
            super(usual);
            this.source = source;
            this.usual = usual;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            return source.allocate(allocator, usual);
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreData) {
            return usual.continueReading(maybeMoreData);
        }
    }
}
