package io.journalq.server.network;

import io.journalq.common.protocol.frame.FrameReads;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.RecvByteBufAllocator;

/** Speaks the Kafka protocol: receives frames, and sends responses in the order of their requests. Any thread. */
public final class KafkaDoor implements Door {
    private static final int READS_AT_A_TIME = 16;
    private static final int SMALLEST_READ_BYTES = 4 * 1024;
    /** A request holds its read buffer until its response, so the first buffers are small. */
    private static final int FIRST_READ_BYTES = 4 * 1024;

    private static final int LARGEST_READ_BYTES = 512 * 1024;
    private static final RecvByteBufAllocator USUAL_READS = new AdaptiveRecvByteBufAllocator(
                    SMALLEST_READ_BYTES, FIRST_READ_BYTES, LARGEST_READ_BYTES)
            .maxMessagesPerRead(READS_AT_A_TIME);

    private final Exchange.Factory exchanges;

    /** @param exchanges decodes requests from frames */
    public KafkaDoor(Exchange.Factory exchanges) {
        this.exchanges = exchanges;
    }

    @Override
    public AcceptedConnection open(Channel channel, LoopContext loop, String listenerName) {
        ConnectionHandler connection = new ConnectionHandler(loop, exchanges, channel, listenerName);
        RequestFrameDecoder decoder = new RequestFrameDecoder(
                connection::refuseFrame,
                connection::cutShort,
                connection::onPart,
                connection::onFrameWaits,
                connection::onShortage,
                loop.limits().maxFrameSizeBytes(),
                new FrameReservation(
                        loop.gathering(), loop.memory().largeRequests(), loop.cycle()::enqueue, connection::flushLater),
                new ReceiveLowWatermark(loop.counters()));
        connection.readThrough(decoder);
        channel.config().setRecvByteBufAllocator(new FrameReads(decoder::allocate, USUAL_READS));
        channel.pipeline().addLast(decoder, connection);
        return connection;
    }
}
