package io.journalq.server.api;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.Connection;
import io.journalq.server.network.Exchange;
import io.netty.buffer.ByteBuf;
import java.net.SocketAddress;

/** A request that arrived in a frame of the Kafka protocol, and later its response. */
final class KafkaRequest extends Exchange implements Invocation {
    /** Estimated heap of one element of the body. */
    private static final int ENTRY_SIZE_BYTES = 64;

    private final HandlerRegistry.Served served;
    private final ClientSession session;
    private final short apiVersion;
    private final short responseVersion;
    private final int correlationId;
    private final String clientId;
    private final long readNanos;
    private ApiMessage body;
    /** Number of elements in all arrays of the body. */
    private int entries;

    private ApiMessage response;
    private int throttleTimeMs;

    /** Creates a request whose header was read. */
    KafkaRequest(
            Connection connection,
            ByteBuf frame,
            HandlerRegistry.Served served,
            ClientSession session,
            short apiVersion,
            short responseVersion,
            int correlationId,
            String clientId) {
        super(connection, frame);
        this.served = served;
        this.session = session;
        this.apiVersion = apiVersion;
        this.responseVersion = responseVersion;
        this.correlationId = correlationId;
        this.clientId = clientId;
        this.readNanos = connection.cycle().begunNanos();
    }

    /** Reads the rest of the frame. Called before {@link #handle}. */
    void readBody(MessageReader in) {
        if (served.api().key().requestHeaderVersion(apiVersion) > 1) {
            in.skipTags();
        }
        body = ApiMessages.readRequest(served.api().key(), in, apiVersion);
        entries = in.entries();
    }

    @Override
    protected long bodySizeBytes() {
        return (long) entries * ENTRY_SIZE_BYTES;
    }

    @Override
    protected void handle() {
        ApiMessage request = body;
        body = null;
        invoke(request);
    }

    @Override
    protected void writeResponse(MessageWriter out) {
        cycle().onResponse(served.api().key().id(), readNanos);
        out.writeInt(correlationId);
        if (served.api().key().responseHeaderVersion(responseVersion) > 0) {
            out.writeUnsignedVarint(0); // no tagged fields
        }
        response.write(out, responseVersion);
    }

    @Override
    protected String description() {
        return served.api().key().apiName() + " v" + apiVersion;
    }

    @Override
    public void send(ApiMessage itsResponse) {
        response = itsResponse;
        responseReady();
    }

    @Override
    public void respondNothing() {
        doneWithoutResponse();
    }

    @Override
    public boolean isConnected() {
        return connection().channel().isActive();
    }

    @Override
    public void whenRead(Runnable work) {
        connection().whenWritable(work);
    }

    @Override
    public void whenRoom(long sizeBytes, Runnable work) {
        reserveRoom(sizeBytes, work);
    }

    @Override
    public void refuse(String reason) {
        connection().refuse(reason);
        doneWithoutResponse();
    }

    @Override
    public HandlerRegistry.Served served() {
        return served;
    }

    @Override
    public ClientSession session() {
        return session;
    }

    @Override
    public int requestSizeBytes() {
        return frameSizeBytes();
    }

    @Override
    public int throttleTimeMs() {
        return throttleTimeMs;
    }

    @Override
    public void setThrottleTimeMs(int timeMs) {
        throttleTimeMs = timeMs;
    }

    @Override
    public short apiVersion() {
        return apiVersion;
    }

    @Override
    public String clientId() {
        return clientId;
    }

    @Override
    public int correlationId() {
        return correlationId;
    }

    @Override
    public SocketAddress localAddress() {
        return connection().channel().localAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
        return connection().remoteAddress();
    }

    @Override
    public String listenerName() {
        return connection().listenerName();
    }

    @Override
    public LoopCycle cycle() {
        return connection().cycle();
    }
}
