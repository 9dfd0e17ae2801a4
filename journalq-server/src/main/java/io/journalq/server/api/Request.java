package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.Connection;
import io.journalq.server.network.Exchange;
import io.netty.buffer.ByteBuf;
import java.net.SocketAddress;
import java.util.function.Supplier;

/** One request that was read, and its answer once there is one. */
final class Request extends Exchange implements RequestContext {
    private final HandlerRegistry.Served served;
    private final RequestHead head;
    private final ClientSession session;
    private ApiMessage body;
    private ApiMessage response;
    private short responseVersion;
    private int throttleTimeMs;

    /** What stands before a request's body. */
    record RequestHead(short apiKeyId, short apiVersion, int correlationId, String clientId) {}

    /**
     * What was read of a frame.
     *
     * @param message null for one that nobody could read
     * @param entries elements of all its arrays
     */
    record RequestBody(ApiMessage message, int entries) {
        static final RequestBody NONE = new RequestBody(null, 0);

        /** What an element takes as an object, about. */
        private static final int ENTRY_SIZE_BYTES = 64;

        int sizeBytes() {
            return (int) Math.min(Integer.MAX_VALUE, (long) entries * ENTRY_SIZE_BYTES);
        }
    }

    Request(
            Connection connection,
            ByteBuf frame,
            HandlerRegistry.Served served,
            RequestHead head,
            ClientSession session,
            RequestBody body) {
        super(connection, frame, body.sizeBytes());
        this.served = served;
        this.head = head;
        this.session = session;
        this.body = body.message();
        this.responseVersion = head.apiVersion();
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
        throttleTimeMs = session.throttle().onRequest(served.key(), clientId(), frameSizeBytes());
        served.handle(this, request);
        session.throttle().onHandled(clientId(), cycle().loop().nanoTime() - begunNanos);
    }

    @Override
    protected void writeAnswer(MessageWriter out) {
        out.writeInt(head.correlationId());
        if (served.key().responseHeaderVersion(responseVersion) > 0) {
            out.writeUnsignedVarint(0); // no tagged fields
        }
        response.write(out, responseVersion);
    }

    @Override
    protected String description() {
        return served.key().apiName() + " v" + head.apiVersion();
    }

    @Override
    public void respond(ApiMessage answer) {
        Check.that(answer.apiKey() == served.key(), "an answer of another API");
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
        return head.apiVersion();
    }

    @Override
    public String clientId() {
        return head.clientId();
    }

    @Override
    public int correlationId() {
        return head.correlationId();
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
