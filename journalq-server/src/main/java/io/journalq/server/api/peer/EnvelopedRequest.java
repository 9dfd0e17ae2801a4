package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.RequestHeader;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Authorizer;
import io.journalq.server.security.Principal;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The request in an envelope: what its client sent, over the connection of the broker that passes it on. */
final class EnvelopedRequest implements RequestContext {
    private static final Logger log = LoggerFactory.getLogger(EnvelopedRequest.class);

    private final RequestContext envelope;
    private final HandlerRegistry.Served served;
    private final RequestHeader header;
    private final Principal principal;
    private final SocketAddress client;
    private final Consumer<ByteBuf> onResponse;
    /** What handlers keep while this request is served. On the loop. */
    private final List<AutoCloseable> states = new ArrayList<>(0);

    private Authorizer.Denial denial;

    /**
     * Creates a request.
     *
     * @param served its API
     * @param onResponse takes the encoded response, on any thread
     */
    EnvelopedRequest(
            RequestContext envelope,
            HandlerRegistry.Served served,
            RequestHeader header,
            Principal principal,
            SocketAddress client,
            Consumer<ByteBuf> onResponse) {
        this.envelope = envelope;
        this.served = served;
        this.header = header;
        this.principal = principal;
        this.client = client;
        this.onResponse = onResponse;
    }

    @Override
    public void respond(ApiMessage response) {
        onResponse.accept(Envelopes.response(header.correlationId(), response, header.requestApiVersion()));
        envelope.cycle().enqueue(this::closeStates);
    }

    @Override
    public void respondNothing() {
        refuse("a request of this API has a response");
    }

    @Override
    public void refuse(String reason) {
        envelope.refuse(reason);
    }

    @Override
    public short apiVersion() {
        return header.requestApiVersion();
    }

    @Override
    public String clientId() {
        return header.clientId();
    }

    @Override
    public Principal principal() {
        return principal;
    }

    @Override
    public boolean allows(Right right, String name) {
        Authorizer authorizer = served.authorizer();
        denial = authorizer.check(authorizer.acls(), served.api().asker(right, this), right, name);
        return denial == null;
    }

    @Override
    public String denial() {
        return denial == null ? null : denial.message();
    }

    @Override
    public boolean sees(Right right, String name) {
        return served.authorizer().sees(served.api().asker(right, this), right, name);
    }

    @Override
    public boolean enforcesRights() {
        return served.authorizer().isOn();
    }

    @Override
    public int authorizedOperations(AclResourceType type, String name) {
        return served.authorizer().operations(served.api().asker(this), type, name);
    }

    @Override
    public boolean allowsSome(Right right) {
        return served.authorizer().allowsSome(served.api().asker(right, this), right);
    }

    @Override
    public int correlationId() {
        return header.correlationId();
    }

    @Override
    public SocketAddress remoteAddress() {
        return client;
    }

    @Override
    public SocketAddress localAddress() {
        return envelope.localAddress();
    }

    @Override
    public String listenerName() {
        return envelope.listenerName();
    }

    @Override
    public LoopCycle cycle() {
        return envelope.cycle();
    }

    @Override
    public boolean isConnected() {
        return envelope.isConnected();
    }

    /** The response is encoded again. */
    @Override
    public boolean wantsMemory() {
        return true;
    }

    @Override
    public void whenRead(Runnable work) {
        envelope.whenRead(work);
    }

    @Override
    public void whenRoom(long sizeBytes, Runnable work) {
        envelope.whenRoom(sizeBytes, work);
    }

    @Override
    public <T> T connectionState(Class<T> type, Supplier<T> first) {
        T state = first.get();
        if (state instanceof AutoCloseable closeable) {
            states.add(closeable);
        }
        return state;
    }

    /** The client is connected to another broker, so that nothing is kept for its next request. */
    private void closeStates() {
        for (AutoCloseable state : states) {
            try {
                state.close();
            } catch (Exception failure) {
                log.error("cannot close the state of a request", failure);
            }
        }
        states.clear();
    }
}
