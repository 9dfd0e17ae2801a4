package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.ApiMessages;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.Connection;
import io.journalq.server.network.Exchange;
import io.netty.buffer.ByteBuf;
import java.net.SocketAddress;
import java.util.function.Supplier;

/** One request that was read, and its answer once there is one. */
final class Request extends Exchange implements RequestContext {
    /** What an element of the body takes as an object, about. */
    private static final int ENTRY_SIZE_BYTES = 64;

    private final HandlerRegistry.Served served;
    private final ClientSession session;
    private final short apiVersion;
    private final int correlationId;
    private final String clientId;
    private ApiMessage body;
    /** Elements of all arrays of the body. */
    private int entries;

    private ApiMessage response;
    private short responseVersion;
    private int throttleTimeMs;

    /** One of which the header was read. */
    Request(
            Connection connection,
            ByteBuf frame,
            HandlerRegistry.Served served,
            ClientSession session,
            short apiVersion,
            int correlationId,
            String clientId) {
        super(connection, frame);
        this.served = served;
        this.session = session;
        this.apiVersion = apiVersion;
        this.correlationId = correlationId;
        this.clientId = clientId;
        this.responseVersion = apiVersion;
    }

    /** Reads the rest of the frame. Before {@link #handle}. */
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
        if (!session.throttle().isActive()) {
            served.handle(this, request);
            return;
        }
        long begunNanos = cycle().loop().nanoTime();
        throttleTimeMs = session.throttle().onRequest(served.api().key(), clientId(), frameSizeBytes());
        served.handle(this, request);
        session.throttle().onHandled(clientId(), cycle().loop().nanoTime() - begunNanos);
    }

    @Override
    protected void writeAnswer(MessageWriter out) {
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
    public void respond(ApiMessage answer) {
        Check.that(answer.apiKey() == served.api().key(), "an answer of another API");
        if (session.throttle().isActive()) {
            session.throttle().onAnswer(answer, clientId(), throttleTimeMs);
        }
        response = answer;
        answered();
    }

    /** Answers in another version than that of the request, as only an unknown version of ApiVersions needs. */
    void respondAs(ApiMessage answer, short version) {
        responseVersion = version;
        respond(answer);
    }

    @Override
    public void respondNothing() {
        answeredWithNothing();
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
        answeredWithNothing();
    }

    @Override
    public <T> T connectionState(Class<T> type, Supplier<T> first) {
        return session.state(type, first);
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
