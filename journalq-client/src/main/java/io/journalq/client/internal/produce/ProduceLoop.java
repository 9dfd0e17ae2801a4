package io.journalq.client.internal.produce;

import static io.journalq.common.protocol.ErrorCode.UNKNOWN_SERVER_ERROR;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.BrokerConnection;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.ClusterView;
import io.netty.channel.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The part of a producer that runs on the event loop. Any thread adds lanes with batches to its queue. Each drain takes
 * all lanes from the queue, builds requests with at most one batch of each lane, and flushes each connection once.
 * {@link BatchCompletion} handles the results.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the event loop logs tasks that fail
final class ProduceLoop implements Cluster.Listener {
    /**
     * If this number of batches of a lane is in flight, a batch that is not full waits for more records or for a
     * response.
     */
    private static final int MAX_PARTIAL_IN_FLIGHT = 2;

    private final ProducerConfig config;
    private final Collection<TopicLanes> topics;
    private final Sender.Counters counters;
    private final Gate gate;
    private final Cluster cluster;
    private final Identity identity;
    private final BatchCompletion completion;
    private final Queue<Lane> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();
    private final Runnable drainTask = this::drain;
    private final Map<Integer, Destination> nodes = new HashMap<>();
    private final List<Destination> dirty = new ArrayList<>();
    private final Set<Lane> withoutIdentity = new LinkedHashSet<>();
    private final long lingerNanos;
    private final BufferMemory memory;
    private final Gathering gathering;
    /** The buffer memory of the records in flight. */
    private long inFlightBytes;
    /** Whether senders do not signal the loop, because no request may be sent before a response arrives. */
    private boolean held;

    private long drains;
    private DirectSender direct;

    ProduceLoop(
            ProducerConfig config,
            Collection<TopicLanes> topics,
            Sender.Counters counters,
            EventLoop loop,
            BufferMemory memory,
            Gate gate) {
        this.config = config;
        this.topics = topics;
        this.counters = counters;
        this.gate = gate;
        this.memory = memory;
        this.gathering = new Gathering(config.maxRequestSizeBytes());
        this.lingerNanos = config.lingerNanos();
        this.cluster = new Cluster(config.client(), loop, this);
        this.identity = new Identity(cluster, config.transactional(), this::onIdentity, this::failAll);
        this.completion = new BatchCompletion(this, config, counters, memory, gate);
    }

    Cluster cluster() {
        return cluster;
    }

    Identity identity() {
        return identity;
    }

    void setDirect(DirectSender line) {
        this.direct = line;
    }

    /** Adds a lane to the queue. Called by the thread for which {@link Lane#markQueued} returned true. */
    void signal(Lane lane) {
        queue.add(lane);
        if (draining.compareAndSet(false, true)) {
            cluster.execute(drainTask);
        }
    }

    /** Adds a lane to the queue if it has batches and is not queued. On the loop. */
    void revisit(Lane lane) {
        boolean mark;
        lane.lock.lock();
        try {
            mark = lane.markQueued();
        } finally {
            lane.lock.unlock();
        }
        if (mark) {
            signal(lane);
        }
    }

    /** Adds a lane to the queue after a delay. On the loop. */
    void revisitLater(Lane lane, long delayNanos) {
        cluster.eventLoop().schedule(() -> revisit(lane), Math.max(1, delayNanos), TimeUnit.NANOSECONDS);
    }

    @Override
    public void onView(ClusterView view) {
        for (TopicLanes topic : topics) {
            ClusterView.Topic known = view.topics().get(topic.name());
            if (known != null) {
                topic.follow(known);
                resumeAtNewLeaders(topic);
            }
        }
    }

    /** A pause spares a leader that has refused. It ends when another one leads. */
    private void resumeAtNewLeaders(TopicLanes topic) {
        for (Lane lane : topic.lanes()) {
            if (lane.blocked && hasNewLeader(lane)) {
                lane.blocked = false;
                revisit(lane);
            }
        }
    }

    /** Whether another broker leads the partition than the one to which the lane has sent last. On the loop. */
    boolean hasNewLeader(Lane lane) {
        int leader = leader(lane);
        return leader >= 0 && leader != lane.inFlightNode;
    }

    private int leader(Lane lane) {
        return cluster.metadata().view().leader(lane.id.topic(), lane.id.partition());
    }

    @Override
    public void onConnectionReady(BrokerConnection connection) {
        Destination node = nodes.get(connection.nodeId());
        if (node != null) {
            releaseStalled(node);
        }
    }

    @Override
    public void onConnectionClosed(BrokerConnection connection) {
        // The lanes that waited for this connection need a new one.
        onConnectionReady(connection);
    }

    @Override
    public void onTick(long nowNanos) {
        for (TopicLanes topic : topics) {
            for (Lane lane : topic.lanes()) {
                completion.expire(lane, nowNanos);
            }
        }
        if (direct != null) {
            direct.checkTimeout(nowNanos);
        }
    }

    /** Handles a completed or failed request, which makes room for another. On the loop. */
    void onRequestDone(ProduceCall call) {
        Destination node = nodes.get(call.nodeId());
        node.requestsInFlight--;
        inFlightBytes -= call.accountedBytes();
        if (call.hasResponse()) {
            long nowNanos = System.nanoTime();
            node.window.onResponse(nowNanos - call.sentNanos());
            gather(call, node, nowNanos);
        }
        releaseStalled(node);
        if (held) {
            held = false;
            if (!gathering.isOn()) {
                drainNow();
            }
        }
    }

    /** Closes the producer. All batches that are not acknowledged fail. On the loop. */
    void close() {
        cluster.close();
        failAll(closedError());
        for (TopicLanes topic : topics) {
            topic.close();
        }
    }

    /** Adds the lanes that waited for a producer id or the gate to the queue. On the loop. */
    void onIdentity() {
        List<Lane> waiting = List.copyOf(withoutIdentity);
        withoutIdentity.clear();
        waiting.forEach(this::revisit);
    }

    /** Fails all batches that are not in flight. On the loop. */
    void failAll(JournalQException cause) {
        withoutIdentity.clear();
        for (TopicLanes topic : topics) {
            for (Lane lane : topic.lanes()) {
                completion.failAll(lane, cause, cluster.isClosed());
            }
        }
    }

    /**
     * Whether one more request may be started than the window allows. A broker responds when all partitions of a request
     * are replicated. One whose followers are slow, or whose leader is about to change, must not hold up the others. If
     * there is a single broker, no partition waits for another one. One that has not responded yet on this connection may
     * be gone, and what is in flight to it cannot go to the next leader.
     */
    private boolean mayOvertakeLateOnes(Destination node, long nowNanos) {
        if (node.requestsInFlight >= RequestWindow.MOST
                || !node.window.hasResponse()
                || cluster.metadata().view().brokers().size() == 1) {
            return false;
        }
        long lastSentNanos = node.forming.isEmpty() ? node.lastSentNanos : nowNanos;
        long leftNanos = lastSentNanos + RequestWindow.LATE_NANOS - nowNanos;
        if (leftNanos > 0 && !node.looksForLateOnes) {
            node.looksForLateOnes = true;
            cluster.eventLoop()
                    .schedule(
                            () -> {
                                node.looksForLateOnes = false;
                                releaseStalled(node);
                            },
                            leftNanos,
                            TimeUnit.NANOSECONDS);
        }
        return leftNanos <= 0;
    }

    private static void stall(Lane lane, Destination node) {
        lane.stalled = true;
        node.stalled.add(lane);
    }

    private void releaseStalled(Destination node) {
        for (Lane lane = node.stalled.poll(); lane != null; lane = node.stalled.poll()) {
            lane.stalled = false;
            revisit(lane);
        }
    }

    /** Whether a sender that reserves memory must call {@link #drainNow} after it has added its record. Any thread. */
    boolean completesGathering(long usedBytes, long bytes) {
        return gathering.isCompletedBy(usedBytes, bytes);
    }

    /** Ends a pause early. Any thread. */
    void drainNow() {
        cluster.execute(drainTask);
    }

    /** After a response, lets the senders that it has woken return before the next request is sent. */
    private void gather(ProduceCall call, Destination node, long nowNanos) {
        if (gathering.isOn() || !call.wakesSenders() || node.window.limit() > 1) {
            return;
        }
        long pauseNanos = gathering.begin(
                call.accountedBytes(), memory.usedBytes(), inFlightBytes, nowNanos, nowNanos - call.sentNanos());
        if (pauseNanos > 0) {
            pause(pauseNanos, nowNanos);
        }
    }

    /** Starts a pause, during which senders do not signal the loop. */
    private void pause(long pauseNanos, long nowNanos) {
        draining.set(true);
        // A sender may have reached the target before it was set.
        if (gathering.goesOn(memory.usedBytes(), nowNanos)) {
            cluster.eventLoop().schedule(drainTask, pauseNanos, TimeUnit.NANOSECONDS);
        } else {
            drainNow();
        }
    }

    private void drain() {
        long nowNanos = System.nanoTime();
        if (gathering.isOn() && gathering.goesOn(memory.usedBytes(), nowNanos)) {
            return;
        }
        held = false;
        draining.set(false);
        drains++;
        for (Lane lane = queue.poll(); lane != null; lane = queue.poll()) {
            visit(lane, nowNanos);
        }
        boolean sentForNobody = false;
        for (Destination node : dirty) {
            for (ProduceCall call : node.forming) {
                sentForNobody |= !call.expectsResponse() && !call.wakesSenders();
                node.requestsInFlight++;
                node.lastSentNanos = nowNanos;
                inFlightBytes += call.accountedBytes();
                call.sentAt(nowNanos);
                counters.requests.increment();
                counters.sentBytes.add(call.sizeBytes());
                node.connection.send(call);
            }
            node.forming.clear();
            node.connection.flush();
        }
        dirty.clear();
        holdWhileFull();
        if (sentForNobody && !held) {
            pause(gathering.beginWithoutResponse(memory.usedBytes(), nowNanos), nowNanos);
        }
    }

    /**
     * While no request may be sent, senders need not wake the loop for each record, because the next response wakes it.
     * With several brokers, one that is not known yet may be free.
     */
    private void holdWhileFull() {
        if (nodes.size() == 1 && cluster.metadata().view().brokers().size() == 1) {
            held = nodes.values().iterator().next().isFull();
            if (held) {
                draining.set(true);
            }
        }
    }

    private void visit(Lane lane, long nowNanos) {
        if (cluster.isClosed()) {
            completion.failAll(lane, closedError(), true);
            return;
        }
        lane.lock.lock();
        try {
            lane.unmarkQueued();
            if (lane.isDirect() || lane.incomplete.isEmpty()) {
                return;
            }
        } finally {
            lane.lock.unlock();
        }
        if (lane.stalled || isHeld(lane, nowNanos)) {
            return;
        }
        Destination node = nodeFor(lane, nowNanos);
        if (node == null) {
            return;
        }
        if (!gate.admits(lane.id)) {
            withoutIdentity.add(lane);
            return;
        }
        if (config.idempotent() && (!identity.give(lane) || !completion.renumberRejected(lane))) {
            withoutIdentity.add(lane);
            identity.ask();
            return;
        }
        while (lane.inFlight.size() < lane.maxInFlight()) {
            if (node.isFull() && !mayOvertakeLateOnes(node, nowNanos) && !fitsForming(lane, node)) {
                stall(lane, node);
                return;
            }
            PendingBatch batch = nextBatch(lane, nowNanos);
            if (batch == null) {
                return;
            }
            if (prepare(lane, batch)) {
                place(lane, batch, node);
            }
            if (batch.tries > 1) {
                // A retried batch is sent alone. If later ones were appended first, the broker could forget that it has
                // this one.
                return;
            }
        }
    }

    /** Whether the lane must wait for a response or the end of a pause, which then adds it to the queue again. */
    private static boolean isHeld(Lane lane, long nowNanos) {
        if (lane.blocked) {
            if (nowNanos - lane.blockedUntilNanos < 0) {
                return true;
            }
            lane.blocked = false;
        }
        PendingBatch oldest = lane.inFlight.peek();
        return oldest != null && (!lane.retry.isEmpty() || oldest.tries > 1);
    }

    private Destination nodeFor(Lane lane, long nowNanos) {
        int leader = leader(lane);
        if (!lane.inFlight.isEmpty() && lane.inFlightNode != leader) {
            // The leader has changed: the batches at the old leader must be completed first.
            return null;
        }
        BrokerConnection connection = leader < 0 ? null : cluster.connection(leader);
        if (connection == null) {
            cluster.metadata().requestUpdate();
            completion.pause(lane, nowNanos, 1);
            return null;
        }
        Destination node = nodes.computeIfAbsent(leader, id -> new Destination(expectsResponses()));
        if (!connection.isWritable()) {
            stall(lane, node);
            return null;
        }
        lane.inFlightNode = leader;
        if (node.connection != connection) {
            node.connection = connection;
            node.window = new RequestWindow();
        }
        return node;
    }

    private PendingBatch nextBatch(Lane lane, long nowNanos) {
        PendingBatch again = completion.nextRetry(lane);
        if (again != null || !lane.retry.isEmpty()) {
            return again;
        }
        lane.lock.lock();
        try {
            PendingBatch first = lane.closed.peek();
            if (first != null) {
                // A batch that is still being built is signaled by the thread that builds it.
                return first.isBuilt() ? lane.closed.poll() : null;
            }
            PendingBatch open = lane.open;
            if (open == null || !mayClose(lane, open, nowNanos)) {
                return null;
            }
            lane.lastBatchHeldMany = open.slot.builder().recordCount() > 1;
            return lane.takeOpen();
        } finally {
            lane.lock.unlock();
        }
    }

    private boolean mayClose(Lane lane, PendingBatch open, long nowNanos) {
        if (open.urgent) {
            return lane.inFlight.size() < MAX_PARTIAL_IN_FLIGHT;
        }
        if (lingerNanos == 0) {
            return lane.inFlight.isEmpty();
        }
        long leftNanos = open.createdNanos + lingerNanos - nowNanos;
        if (leftNanos > 0) {
            revisitLater(lane, leftNanos);
            return false;
        }
        return true;
    }

    /** Assigns sequence numbers to a batch and builds it, if this has not been done. Returns false if it has failed. */
    private boolean prepare(Lane lane, PendingBatch batch) {
        if (batch.buildError() == null) {
            if (config.idempotent() && !batch.isNumbered()) {
                lane.number(batch, batch.recordCount());
            }
            if (!batch.isBuilt()) {
                batch.build();
            }
        }
        Throwable error = batch.buildError();
        if (error != null) {
            completion.fail(
                    batch,
                    error instanceof JournalQException cause
                            ? cause
                            : new JournalQException(
                                    "cannot build a batch: " + error, UNKNOWN_SERVER_ERROR, false, error));
        }
        return error == null;
    }

    private boolean fitsForming(Lane lane, Destination node) {
        return firstRound(lane) < node.forming.size();
    }

    private int firstRound(Lane lane) {
        return lane.drain == drains ? lane.round + 1 : 0;
    }

    private void place(Lane lane, PendingBatch batch, Destination node) {
        int round = firstRound(lane);
        int sizeBytes = batch.payload().readableBytes();
        while (round < node.forming.size()
                && node.forming.get(round).sizeBytes() + sizeBytes > config.maxRequestSizeBytes()) {
            round++;
        }
        if (node.forming.isEmpty()) {
            dirty.add(node);
        }
        if (round >= node.forming.size()) {
            round = node.forming.size();
            node.forming.add(new ProduceCall(config, gate.newestProduceVersion(), lane.inFlightNode, completion));
        }
        lane.drain = drains;
        lane.round = round;
        if (batch.tries++ == 0) {
            batch.order = lane.nextOrder++;
        }
        lane.inFlight.add(batch);
        node.forming.get(round).add(batch);
    }

    boolean expectsResponses() {
        return config.expectsResponses();
    }

    private static JournalQException closedError() {
        return new ClientClosedException("the producer was closed before the record was acknowledged");
    }

    static JournalQException missingPartition() {
        return new ConnectionFailedException("the response of the broker does not contain the partition");
    }

    /**
     * A broker to which the producer sends: the requests of the current drain, and the lanes that wait for room on the
     * connection. Belongs to the event loop.
     */
    private static final class Destination {
        final List<ProduceCall> forming = new ArrayList<>();
        final ArrayDeque<Lane> stalled = new ArrayDeque<>();
        BrokerConnection connection;
        RequestWindow window = new RequestWindow();
        int requestsInFlight;
        long lastSentNanos;
        /** Whether the lanes that wait for room are looked at when the last request is late. */
        boolean looksForLateOnes;

        private final boolean responds;

        /**
         * Creates a destination.
         *
         * @param responds whether the broker responds; if not, only the written requests limit their number
         */
        Destination(boolean responds) {
            this.responds = responds;
        }

        /** Whether the window allows no more requests than those in flight and in preparation. */
        boolean isFull() {
            return requestsInFlight + forming.size() >= (responds ? window.limit() : RequestWindow.MOST);
        }
    }
}
