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

    /** Reads of bytes from which another handler makes those of the frames, such as records of TLS. */
    private static final int LARGEST_INDIRECT_READ_BYTES = 64 * 1024;

    private static final RecvByteBufAllocator INDIRECT_READS = new AdaptiveRecvByteBufAllocator(
                    SMALLEST_READ_BYTES, FIRST_READ_BYTES, LARGEST_INDIRECT_READ_BYTES)
            .maxMessagesPerRead(READS_AT_A_TIME);

    private final Exchange.Factory exchanges;
    private final Transport transport;
    /** Null if clients need not authenticate. */
    private final PreAuthentication preAuthentication;
    /** Whether they have authenticated with the handshake of the transport. */
    private final boolean byHandshake;

    /** @param exchanges decodes requests from frames */
    public KafkaDoor(Exchange.Factory exchanges) {
        this(exchanges, Transport.PLAIN, null, false);
    }

    /**
     * Creates a door.
     *
     * @param exchanges decodes requests from frames
     * @param transport carries the frames
     * @param preAuthentication limits of clients that have not authenticated; null if they need not
     * @param byHandshake whether they have authenticated with the handshake of the transport, and need no login
     */
    public KafkaDoor(
            Exchange.Factory exchanges, Transport transport, PreAuthentication preAuthentication, boolean byHandshake) {
        this.exchanges = exchanges;
        this.transport = transport;
        this.preAuthentication = preAuthentication;
        this.byHandshake = byHandshake;
    }

    @Override
    public AcceptedConnection open(Channel channel, LoopContext loop, String listenerName) {
        Transport.Line line = transport.open(channel, loop);
        ConnectionHandler connection = new ConnectionHandler(loop, exchanges, channel, line, listenerName);
        RequestFrameDecoder decoder = new RequestFrameDecoder(
                connection::refuseFrame,
                connection::cutShort,
                connection::onPart,
                connection::onFrameWaits,
                connection::onShortage,
                loop.limits().maxFrameSizeBytes(),
                loop.reservation(connection::flushLater),
                new ReceiveLowWatermark(loop.counters(), line.carriesFrames()));
        connection.readThrough(decoder);
        channel.config()
                .setRecvByteBufAllocator(
                        line.carriesFrames() ? new FrameReads(decoder::allocate, USUAL_READS) : INDIRECT_READS);
        channel.pipeline().addLast(decoder, connection);
        if (preAuthentication != null) {
            connection.awaitAuthentication(preAuthentication, byHandshake);
        }
        return connection;
    }
}
