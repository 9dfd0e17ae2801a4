package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.LoopCycle;
import java.net.SocketAddress;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * A request that does not arrive in a frame of the Kafka protocol. It passes through the same handlers and quotas, and
 * needs no socket. The simulator's clients send all their requests this way.
 */
public final class LocalCall implements Invocation {
    private final Client client;
    private final HandlerRegistry.Served served;
    private final short apiVersion;
    private final int requestSizeBytes;
    private final Consumer<ApiMessage> onResponse;
    private int throttleTimeMs;
    private boolean done;

    /**
     * The sender of local calls.
     *
     * @param cycle the loop on which its requests begin and its responses arrive
     * @param clientId its client id; may be null
     * @param listenerName the listener whose advertised address it is given
     * @param wantsMemory whether the records that it is given must be in memory
     * @param receivers the number of clients that get the records of a response. On the loop
     * @param memory for the records of responses
     */
    public record Client(
            ClientSession session,
            LoopCycle cycle,
            String clientId,
            SocketAddress remoteAddress,
            SocketAddress localAddress,
            String listenerName,
            boolean wantsMemory,
            IntSupplier receivers,
            RecordMemory memory) {
        /** The sender of calls whose responses are for itself. */
        public Client(
                ClientSession session,
                LoopCycle cycle,
                String clientId,
                SocketAddress remoteAddress,
                SocketAddress localAddress,
                String listenerName,
                boolean wantsMemory) {
            this(
                    session,
                    cycle,
                    clientId,
                    remoteAddress,
                    localAddress,
                    listenerName,
                    wantsMemory,
                    () -> 1,
                    RecordMemory.UNLIMITED);
        }

        /** The same sender, whose records may be regions of files from now on. */
        public Client acceptingFiles() {
            return new Client(
                    session, cycle, clientId, remoteAddress, localAddress, listenerName, false, receivers, memory);
        }

        /** The same sender, whose records are read once there is memory for them. */
        public Client reserving(RecordMemory itsMemory) {
            return new Client(
                    session,
                    cycle,
                    clientId,
                    remoteAddress,
                    localAddress,
                    listenerName,
                    wantsMemory,
                    receivers,
                    itsMemory);
        }
    }

    /**
     * Prepares a call.
     *
     * @param requestSizeBytes counts against the quota of produced bytes
     * @param onResponse receives the response, on the client's loop, and owns the records in it; null if there is none
     */
    public LocalCall(
            Client client,
            HandlerRegistry.Served served,
            int apiVersion,
            int requestSizeBytes,
            Consumer<ApiMessage> onResponse) {
        Check.that(served.serves((short) apiVersion), "a version that is not served");
        this.client = client;
        this.served = served;
        this.apiVersion = (short) apiVersion;
        this.requestSizeBytes = requestSizeBytes;
        this.onResponse = onResponse;
    }

    /**
     * Calls the handler. On the client's loop.
     *
     * @param request must not change, and its records must not be released, before the response
     */
    public void start(ApiMessage request) {
        invoke(request);
    }

    @Override
    public void send(ApiMessage response) {
        client.cycle().execute(() -> finish(response));
    }

    private void finish(ApiMessage response) {
        Check.that(!done, "a request got two responses");
        done = true;
        onResponse.accept(response);
    }

    @Override
    public void respondNothing() {
        send(null);
    }

    @Override
    public void refuse(String reason) {
        send(null);
    }

    @Override
    public HandlerRegistry.Served served() {
        return served;
    }

    @Override
    public ClientSession session() {
        return client.session();
    }

    @Override
    public int requestSizeBytes() {
        return requestSizeBytes;
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
        return client.clientId();
    }

    @Override
    public boolean wantsMemory() {
        return client.wantsMemory();
    }

    @Override
    public boolean countsRecords() {
        return client.memory() != RecordMemory.UNLIMITED;
    }

    @Override
    public void whenRoom(long sizeBytes, Runnable work) {
        if (client.memory().reserve(sizeBytes, () -> client.cycle().enqueue(work))) {
            work.run();
        }
    }

    @Override
    public int receivers() {
        return client.receivers().getAsInt();
    }

    /** Responses need no number: each call has its own consumer. */
    @Override
    public int correlationId() {
        return 0;
    }

    @Override
    public SocketAddress remoteAddress() {
        return client.remoteAddress();
    }

    @Override
    public SocketAddress localAddress() {
        return client.localAddress();
    }

    @Override
    public String listenerName() {
        return client.listenerName();
    }

    @Override
    public LoopCycle cycle() {
        return client.cycle();
    }
}
