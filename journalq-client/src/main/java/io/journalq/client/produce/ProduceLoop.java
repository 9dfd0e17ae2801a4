package io.journalq.client.produce;

import static io.journalq.common.protocol.ErrorCode.UNKNOWN_SERVER_ERROR;

import io.journalq.client.Acks;
import io.journalq.client.JournalQException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.network.BrokerConnection;
import io.journalq.client.network.Cluster;
import io.journalq.client.network.ClusterView;
import io.netty.channel.EventLoop;
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
 * The sending side of a producer on its event loop. Lanes that have something are put into its queue by any thread; each
 * drain takes them all, forms requests with one batch of each lane, and flushes each connection once. What becomes of
 * the batches is {@link Settling}'s.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a task on the loop that fails is logged by it
final class ProduceLoop implements Cluster.Listener {
    /** Batches of a lane in flight beyond which one that is not full waits for more records or for an answer. */
    private static final int MAX_PARTIAL_IN_FLIGHT = 2;

    private final ProducerConfig config;
    private final Collection<TopicLanes> topics;
    private final Counters counters;
    private final Gate gate;
    private final Cluster cluster;
    private final Identity identity;
    private final Settling settling;
    private final Queue<Lane> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean draining = new AtomicBoolean();
    private final Runnable drainTask = this::drain;
    private final Map<Integer, Destination> nodes = new HashMap<>();
    private final List<Destination> dirty = new ArrayList<>();
    private final Set<Lane> withoutIdentity = new LinkedHashSet<>();
    private final long lingerNanos;
    private final BufferMemory memory;
    private final Gathering gathering;
    /** What the records of unanswered requests took of the buffer memory. */
    private long inFlightBytes;
    /** Whether senders leave the loop alone, for no request may leave before one is answered. */
    private boolean held;

    private long drains;
    private DirectLine direct;

    ProduceLoop(
            ProducerConfig config,
            Collection<TopicLanes> topics,
            Counters counters,
            EventLoop loop,
            BufferMemory memory,
            Gate gate) {
        this.config = config;
        this.topics = topics;
        this.counters = counters;
        this.gate = gate;
        this.memory = memory;
        this.gathering = new Gathering(config.maxRequestSizeBytes());
        this.lingerNanos = TimeUnit.MILLISECONDS.toNanos(config.lingerMs());
        this.cluster = new Cluster(config.client(), loop, this);
        this.identity = new Identity(cluster, config.transactional(), this::onIdentity, this::failAll);
        this.settling = new Settling(this, config, counters, memory, gate);
    }

    Cluster cluster() {
        return cluster;
    }

    Identity identity() {
        return identity;
    }

    void setDirect(DirectLine line) {
        this.direct = line;
    }

    /** Puts a lane into the queue. Any thread that {@link Lane#markQueued} told to. */
    void signal(Lane lane) {
        queue.add(lane);
        if (draining.compareAndSet(false, true)) {
            cluster.eventLoop().execute(drainTask);
        }
    }

    /** Puts a lane into the queue if it has something and is not there. On the loop. */
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

    /** Looks at a lane again after a pause. On the loop. */
    void revisitLater(Lane lane, long delayNanos) {
        cluster.eventLoop().schedule(() -> revisit(lane), Math.max(1, delayNanos), TimeUnit.NANOSECONDS);
    }

    @Override
    public void onView(ClusterView view) {
        for (TopicLanes topic : topics) {
            ClusterView.Topic known = view.topics().get(topic.name());
            if (known != null) {
                topic.grow(known.partitionCount());
            }
        }
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
        // The lanes that waited for it look for a connection again.
        onConnectionReady(connection);
    }

    @Override
    public void onTick(long nowNanos) {
        for (TopicLanes topic : topics) {
            for (Lane lane : topic.lanes()) {
                settling.expire(lane, nowNanos);
            }
        }
        if (direct != null) {
            direct.checkTimeout(nowNanos);
        }
    }

    /** A request is answered or lost: there is room for another. On the loop. */
    void onRequestDone(ProduceCall call) {
        Destination node = nodes.get(call.nodeId());
        node.requestsInFlight--;
        inFlightBytes -= call.accountedBytes();
        if (call.isAnswered()) {
            long nowNanos = System.nanoTime();
            node.window.onAnswer(nowNanos - call.sentNanos());
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

    /** Ends everything: what is not acknowledged fails. On the loop. */
    void close() {
        cluster.close();
        failAll(closedError());
        for (TopicLanes topic : topics) {
            topic.close();
        }
    }

    /** What lanes waited for, an identity or the gate, may be there. On the loop. */
    void onIdentity() {
        List<Lane> waiting = List.copyOf(withoutIdentity);
        withoutIdentity.clear();
        waiting.forEach(this::revisit);
    }

    /** Fails what is not on its way. On the loop. */
    void failAll(JournalQException cause) {
        withoutIdentity.clear();
        for (TopicLanes topic : topics) {
            for (Lane lane : topic.lanes()) {
                settling.failAll(lane, cause, cluster.isClosed());
            }
        }
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

    /** Whether a sender that takes bytes must tell the loop by {@link #drainNow} once its record waits. Any thread. */
    boolean completesGathering(long usedBytes, long bytes) {
        return gathering.isCompletedBy(usedBytes, bytes);
    }

    /** Ends a pause early. Any thread. */
    void drainNow() {
        cluster.eventLoop().execute(drainTask);
    }

    /** After an answer: lets those whom it woke come back before the next request leaves. */
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

    /** Until a pause that was begun ends, senders leave the loop alone. */
    private void pause(long pauseNanos, long nowNanos) {
        draining.set(true);
        // A sender may have passed the target before it was set.
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
                sentForNobody |= !call.expectsAnswer() && !call.wakesSenders();
                node.requestsInFlight++;
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
            pause(gathering.beginUnanswered(memory.usedBytes(), nowNanos), nowNanos);
        }
    }

    /**
     * While no request may leave, senders need not wake the loop for each record: the next answer does. With several
     * brokers one may be free that is not known of yet.
     */
    private void holdWhileFull() {
        if (nodes.size() == 1 && cluster.metadata().view().brokers().size() == 1) {
            held = !nodes.values().iterator().next().mayStartRequest();
            if (held) {
                draining.set(true);
            }
        }
    }

    private void visit(Lane lane, long nowNanos) {
        if (cluster.isClosed()) {
            settling.failAll(lane, closedError(), true);
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
        if (config.idempotent() && (!identity.give(lane) || !settling.renumberRejected(lane))) {
            withoutIdentity.add(lane);
            identity.ask();
            return;
        }
        while (lane.inFlight.size() < lane.maxInFlight()) {
            if (!node.mayStartRequest() && !fitsForming(lane, node)) {
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
                // Alone: were later ones appended meanwhile, the broker might forget that it has this one.
                return;
            }
        }
    }

    /** Whether the lane has to wait for an answer or for a pause to end; whichever it is visits it again. */
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
        int leader = cluster.metadata().view().leader(lane.id.topic(), lane.id.partition());
        if (!lane.inFlight.isEmpty() && lane.inFlightNode != leader) {
            // The leader moved: what is at the old one comes back first.
            return null;
        }
        BrokerConnection connection = leader < 0 ? null : cluster.connection(leader);
        if (connection == null) {
            cluster.metadata().requestUpdate();
            settling.pause(lane, nowNanos, 1);
            return null;
        }
        Destination node = nodes.computeIfAbsent(leader, id -> new Destination(expectsAnswers()));
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
        PendingBatch again = settling.nextRetry(lane);
        if (again != null || !lane.retry.isEmpty()) {
            return again;
        }
        lane.lock.lock();
        try {
            PendingBatch first = lane.closed.peek();
            if (first != null) {
                // One that is being built is signalled again by the thread that builds it.
                return first.isBuilt() ? lane.closed.poll() : null;
            }
            PendingBatch open = lane.open;
            if (open == null || !mayClose(lane, open, nowNanos)) {
                return null;
            }
            lane.open = null;
            lane.lastBatchHeldMany = open.slot.builder().recordCount() > 1;
            return open;
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

    /** Numbers and builds a batch as far as that is not done; false when it failed. */
    private boolean prepare(Lane lane, PendingBatch batch) {
        if (batch.buildError() == null) {
            if (config.idempotent() && !batch.isNumbered()) {
                lane.number(
                        batch,
                        batch.isBuilt()
                                ? batch.recordCount
                                : batch.slot.builder().recordCount());
            }
            if (!batch.isBuilt()) {
                batch.build();
            }
        }
        Throwable error = batch.buildError();
        if (error != null) {
            settling.fail(
                    batch,
                    new JournalQException("a batch could not be built: " + error, UNKNOWN_SERVER_ERROR, false, error));
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
            node.forming.add(new ProduceCall(config, gate.newestProduceVersion(), lane.inFlightNode, settling));
        }
        lane.drain = drains;
        lane.round = round;
        if (batch.tries++ == 0) {
            batch.order = lane.nextOrder++;
        }
        lane.inFlight.add(batch);
        node.forming.get(round).add(batch);
    }

    boolean expectsAnswers() {
        return config.acks() != Acks.NONE;
    }

    private static JournalQException closedError() {
        return new ClientClosedException("the producer was closed before the record was acknowledged");
    }

    static JournalQException notAnswered() {
        return new ConnectionFailedException("the broker's answer left the partition out");
    }
}
