package io.journalq.sim.world;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.api.RequestContext;
import io.journalq.server.loop.LoopCycle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** One request of a simulated client, and the way back for its answer. */
final class SimRequest implements RequestContext {
    private static final InetSocketAddress NOWHERE = new InetSocketAddress(address(), 9092);

    private final SimBroker broker;
    private final short version;
    private final LoopCycle cycle;
    private final Map<Class<?>, Object> states;
    private final Consumer<ApiMessage> answer;
    private boolean answered;

    /**
     * Prepares a request.
     *
     * @param states what handlers keep for the connection
     * @param answer takes the answer at the moment when the broker gives it; null for none
     */
    SimRequest(
            SimBroker broker,
            short version,
            LoopCycle cycle,
            Map<Class<?>, Object> states,
            Consumer<ApiMessage> answer) {
        this.broker = broker;
        this.version = version;
        this.cycle = cycle;
        this.states = states;
        this.answer = answer;
    }

    private static InetAddress address() {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    boolean isAnswered() {
        return answered;
    }

    private void answer(ApiMessage response) {
        if (answered) {
            broker.violations().report("EveryRequestIsAnsweredOnce", "a second answer: " + response);
        }
        answered = true;
        if (broker.isRunning()) {
            answer.accept(response);
        }
    }

    @Override
    public void respond(ApiMessage response) {
        answer(response);
    }

    @Override
    public void respondNothing() {
        answer(null);
    }

    @Override
    public void refuse(String reason) {
        answer(null);
    }

    @Override
    public short apiVersion() {
        return version;
    }

    @Override
    public String clientId() {
        return "simulated";
    }

    @Override
    public int correlationId() {
        return 0;
    }

    @Override
    public SocketAddress remoteAddress() {
        return NOWHERE;
    }

    @Override
    public SocketAddress localAddress() {
        return NOWHERE;
    }

    @Override
    public String listenerName() {
        return "PLAINTEXT";
    }

    @Override
    public LoopCycle cycle() {
        return cycle;
    }

    @Override
    public <T> T connectionState(Class<T> type, Supplier<T> first) {
        return type.cast(states.computeIfAbsent(type, none -> first.get()));
    }
}
