package io.journalq.sim.world;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.RecordsData;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.loop.Loop;
import io.journalq.server.peer.PeerChannel;
import io.journalq.server.peer.PeerChannels;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The connections of one process of a simulated cluster to the brokers on other machines: over the network. */
final class SimPeerChannels implements PeerChannels {
    private static final String HOST_PREFIX = "broker";
    private static final int REFUSED_AFTER_MS = 1;

    private final SimWorld world;
    private final SimMachine machine;
    private final SimProcess process;

    SimPeerChannels(SimWorld world, SimMachine machine) {
        this.world = world;
        this.machine = machine;
        this.process = machine.node().process();
    }

    private SimMachine target(String host) {
        return world.machine(Integer.parseInt(host.substring(HOST_PREFIX.length())));
    }

    @Override
    public CompletableFuture<ApiMessage> send(String host, int port, ApiMessage request, int version, int timeoutMs) {
        CompletableFuture<ApiMessage> result = new CompletableFuture<>();
        Link link = new Link(target(host), () -> complete(result, null));
        link.send(request, version, response -> complete(result, response));
        process.after(Scheduler.Kind.POOL, TimeUnit.MILLISECONDS.toNanos(timeoutMs), () -> {
            link.close();
            complete(result, null);
        });
        return result;
    }

    private void complete(CompletableFuture<ApiMessage> result, ApiMessage response) {
        if (!result.isDone()) {
            process.after(Scheduler.Kind.POOL, 0, () -> {
                if (response == null) {
                    result.completeExceptionally(new IOException("there is no response"));
                } else {
                    result.complete(response);
                }
            });
        }
    }

    @Override
    public PeerChannel open(String host, int port, Loop loop) {
        return new Channel(target(host), loop);
    }

    @Override
    public void close() {
        // Connections end with their process.
    }

    /** A connection to one life of another broker. */
    private final class Link {
        private final Runnable onReset;
        private final SimBroker.Connection session;
        /** Null if the connection was refused. */
        private final SimNetwork.Connection network;

        Link(SimMachine target, Runnable onReset) {
            this.onReset = onReset;
            SimBroker broker = target == null ? null : target.broker();
            boolean up = broker != null && broker.isRunning();
            session = up ? broker.connect() : null;
            network = up
                    ? world.network()
                            .connect(
                                    machine.node().id(),
                                    target.node().id(),
                                    target.node().process(),
                                    onReset)
                    : null;
        }

        void send(ApiMessage request, int version, Consumer<ApiMessage> onResponse) {
            if (network == null) {
                process.after(Scheduler.Kind.POOL, TimeUnit.MILLISECONDS.toNanos(REFUSED_AFTER_MS), onReset);
                return;
            }
            ApiMessage sent = request instanceof FetchRequest fetch
                    ? world.interference().onPeerFetch(machine.node().id(), fetch)
                    : request;
            network.send(() -> session.send(sent.apiKey(), version, sent, response -> {
                ApiMessage arriving = response instanceof FetchResponse fetched
                        ? world.interference().onPeerFetched((FetchRequest) sent, detach(fetched))
                        : response;
                network.respond(() -> onResponse.accept(arriving));
            }));
        }

        boolean isOpen() {
            return network != null && network.isOpen();
        }

        void close() {
            if (network != null) {
                network.close();
                session.close();
            }
        }
    }

    /** Copies the records, so that nothing has to be released if the response never arrives. */
    private static FetchResponse detach(FetchResponse response) {
        for (FetchResponse.FetchableTopicResponse topic : response.responses()) {
            for (FetchResponse.PartitionData partition : topic.partitions()) {
                RecordsData records = partition.records();
                if (records != null && records.sizeBytes() > 0) {
                    ByteBuf copy = Unpooled.copiedBuffer(records.buffer());
                    records.release();
                    partition.setRecords(RecordsData.of(copy));
                }
            }
        }
        return response;
    }

    /** A request that was sent over a channel. Two of them can have the same listener. */
    private static final class Request {
        private final PeerChannel.ResponseListener listener;

        Request(PeerChannel.ResponseListener listener) {
            this.listener = listener;
        }
    }

    /** A connection for one loop. On that loop, except for what the network calls. */
    private final class Channel implements PeerChannel {
        private final Loop loop;
        private final Link link;
        /** The requests without a response. */
        private final List<Request> waiting = new ArrayList<>();

        private boolean closed;

        Channel(SimMachine target, Loop loop) {
            this.loop = loop;
            this.link = new Link(target, () -> loop.execute(() -> fail("the connection was reset")));
        }

        @Override
        public void send(ApiMessage request, int version, int timeoutMs, ResponseListener listener) {
            Request sent = new Request(listener);
            waiting.add(sent);
            link.send(request, version, response -> loop.execute(() -> deliver(sent, response)));
            loop.schedule(
                    () -> {
                        if (waiting.contains(sent)) {
                            fail("there is no response in time");
                        }
                    },
                    timeoutMs);
        }

        private void deliver(Request request, ApiMessage response) {
            if (!closed && waiting.remove(request)) {
                request.listener.onResponse(response);
            }
        }

        private void fail(String reason) {
            link.close();
            List<Request> failed = List.copyOf(waiting);
            waiting.clear();
            if (!closed) {
                failed.forEach(request -> request.listener.onFailure(new IOException(reason)));
            }
        }

        @Override
        public boolean isOpen() {
            return !closed && link.isOpen();
        }

        @Override
        public void close() {
            closed = true;
            link.close();
        }
    }
}
