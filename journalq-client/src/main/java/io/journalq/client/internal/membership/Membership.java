package io.journalq.client.internal.membership;

import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.membership.MembershipState.State;
import io.journalq.client.internal.network.BrokerConnection;
import io.journalq.client.internal.network.Call;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The membership of a consumer in its group: joins, sends heartbeats, receives the assignment, leaves. Leaves on its
 * own if the thread of the consumer does not poll for too long (KIP-848). It does not decide about partitions: the
 * thread of the consumer takes them and gives them up, and confirms with {@link #own}.
 *
 * <p>Belongs to the event loop. Any thread may call {@link #status} and {@link #polled}, and the methods that say so,
 * which switch to the loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the event loop logs tasks that fail
public final class Membership {
    private static final int TICK_MS = 50;

    private final Cluster cluster;
    private final GroupConfig config;
    private final Coordinator coordinator;
    private final Runnable onNews;
    private final Heartbeat heartbeat;
    private volatile MembershipState status;
    private volatile long polledNanos = System.nanoTime();

    private ScheduledFuture<?> ticks;
    /** Incremented when the member joins, leaves or is lost. Responses to earlier heartbeats are ignored. */
    private int term;

    private boolean inFlight;
    private boolean due;
    /** Whether the group has taken partitions from the assignment, and waits for the consumer to confirm. */
    private boolean unconfirmed;

    private long nextNanos;
    private int failures;

    /**
     * Creates a membership that has not joined.
     *
     * @param onNews runs on the loop whenever {@link #status} has changed
     */
    Membership(Cluster cluster, GroupConfig config, Coordinator coordinator, Runnable onNews) {
        this.cluster = cluster;
        this.config = config;
        this.coordinator = coordinator;
        this.onNews = onNews;
        this.heartbeat = new Heartbeat(config);
        UUID id = UUID.randomUUID();
        this.status =
                MembershipState.out(new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits()).toString());
    }

    /** The current state. Any thread. */
    MembershipState status() {
        return status;
    }

    /** Changes when the member joins, leaves or is lost. */
    int term() {
        return term;
    }

    /** Notes that the thread of the consumer has polled. Any thread. */
    void polled() {
        polledNanos = System.nanoTime();
    }

    /** Joins the group, or changes the subscription. Any thread. */
    void join(Subscriber.Subscription subscription) {
        polled();
        cluster.execute(() -> {
            heartbeat.subscribe(subscription);
            cluster.metadata().subscribe(Set.copyOf(subscription.topics()));
            State state = status.state();
            if (state == State.OUT || state == State.FAILED) {
                enter(State.JOINING, null);
            }
            send();
        });
    }

    /**
     * Joins again after the membership was lost and the thread of the consumer has dropped all partitions. Any thread.
     */
    void rejoin() {
        cluster.execute(() -> {
            if (status.state() == State.LOST) {
                enter(State.JOINING, null);
                send();
            }
        });
    }

    /** Confirms that the consumer uses exactly these partitions. Any thread. */
    void own(Set<MembershipState.TopicIdPartition> partitions) {
        cluster.execute(() -> {
            if (status.isIn()) {
                unconfirmed = false;
                heartbeat.own(partitions);
                send();
            }
        });
    }

    /**
     * Like {@link #own}, for a consumer that has nothing to change: the group may have assigned partitions and taken
     * them back before the thread of the consumer looked, and it waits until they are not in use. Any thread.
     */
    void confirm(Set<MembershipState.TopicIdPartition> partitions) {
        cluster.execute(() -> {
            if (unconfirmed) {
                own(partitions);
            }
        });
    }

    /**
     * Leaves the group, so that other members get the partitions. Any thread. Completes when the coordinator has
     * responded or cannot be reached.
     */
    CompletableFuture<Void> leave() {
        CompletableFuture<Void> left = new CompletableFuture<>();
        cluster.execute(() -> {
            cluster.metadata().subscribe(Set.of());
            State state = status.state();
            if (state == State.IN || state == State.JOINING) {
                sendLeave(left);
            } else {
                left.complete(null);
            }
            enter(State.OUT, null);
        });
        return left;
    }

    private void enter(State state, JournalQException failure) {
        term++;
        inFlight = false;
        failures = 0;
        unconfirmed = false;
        heartbeat.forgetSent();
        heartbeat.own(Set.of());
        status = new MembershipState(state, status.memberId(), Heartbeat.JOIN_EPOCH, null, 0, failure);
        boolean active = state == State.JOINING;
        if (active && ticks == null) {
            ticks = cluster.repeat(this::tick, TICK_MS);
        } else if (!active && ticks != null) {
            ticks.cancel(false);
            ticks = null;
        }
        onNews.run();
    }

    private void tick() {
        long nowNanos = System.nanoTime();
        if (cluster.isClosed()) {
            enter(State.OUT, null);
        } else if (status.isIn()
                && nowNanos - polledNanos > TimeUnit.MILLISECONDS.toNanos(config.maxPollIntervalMs())) {
            sendLeave(new CompletableFuture<>());
            enter(State.LOST, null);
        } else if (nowNanos - nextNanos >= 0) {
            send();
        }
    }

    private void send() {
        State state = status.state();
        if (state != State.IN && state != State.JOINING) {
            return;
        }
        if (inFlight) {
            due = true;
            return;
        }
        due = false;
        inFlight = true;
        int sentTerm = term;
        coordinator.find((connection, failure) -> {
            if (sentTerm != term) {
                return;
            }
            if (failure != null) {
                onNoResponse(failure);
            } else {
                write(connection);
            }
        });
    }

    private void write(BrokerConnection connection) {
        connection.send(new HeartbeatCall());
        connection.flush();
    }

    private void sendLeave(CompletableFuture<Void> left) {
        coordinator.find((connection, failure) -> {
            if (failure != null) {
                left.complete(null);
            } else {
                connection.send(new LeaveCall(left));
                connection.flush();
            }
        });
    }

    private void onResponse(ConsumerGroupHeartbeatResponse response, long sentNanos) {
        inFlight = false;
        ErrorCode error = ErrorCode.of(response.errorCode());
        switch (error) {
            case NONE -> accept(response, sentNanos);
            case FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID -> enter(State.LOST, null);
            default -> {
                coordinator.onError(error);
                JournalQException cause =
                        Errors.of(error, "membership in group " + config.groupId(), response.errorMessage());
                coordinator.reportIfRefused(cause);
                if (error.retriable()) {
                    again();
                } else {
                    enter(State.FAILED, cause);
                }
            }
        }
    }

    private void accept(ConsumerGroupHeartbeatResponse response, long sentNanos) {
        failures = 0;
        nextNanos = sentNanos + TimeUnit.MILLISECONDS.toNanos(Math.max(TICK_MS, response.heartbeatIntervalMs()));
        MembershipState before = status;
        Set<MembershipState.TopicIdPartition> target = Heartbeat.target(response);
        boolean takesBack = target != null && before.target() != null && !target.containsAll(before.target());
        if (takesBack) {
            unconfirmed = true;
        }
        status = new MembershipState(
                State.IN,
                response.memberId() == null ? before.memberId() : response.memberId(),
                response.memberEpoch(),
                target == null ? before.target() : target,
                takesBack ? before.takenBack() + 1 : before.takenBack(),
                null);
        if (!before.equals(status)) {
            onNews.run();
        }
        if (due) {
            send();
        }
    }

    private void onNoResponse(JournalQException cause) {
        inFlight = false;
        if (cause.retriable()) {
            again();
        } else if (cause instanceof UnsupportedByBrokerException) {
            enter(
                    State.FAILED,
                    new UnsupportedByBrokerException(
                            "the broker does not support the version of the consumer group protocol that this consumer"
                                    + " requires (" + cause.getMessage()
                                    + "); use a newer broker, or assign partitions",
                            cause));
        } else {
            enter(State.FAILED, cause);
        }
    }

    private void again() {
        failures++;
        heartbeat.forgetSent();
        nextNanos = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(cluster.config().retryBackoff().delayMs(failures));
    }

    private final class HeartbeatCall extends Call {
        private final int sentTerm = term;
        private final long sentNanos = System.nanoTime();

        private HeartbeatCall() {
            super(ApiKey.CONSUMER_GROUP_HEARTBEAT, cluster.config().requestTimeoutMs());
        }

        @Override
        protected ApiMessage request(short version) {
            MembershipState now = status;
            return heartbeat.next(now.memberId(), now.epoch(), version);
        }

        @Override
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            if (sentTerm == term) {
                Membership.this.onResponse((ConsumerGroupHeartbeatResponse) response, sentNanos);
            }
        }

        @Override
        protected void onFailure(JournalQException cause) {
            coordinator.onNoResponse(cause);
            if (sentTerm == term) {
                onNoResponse(cause);
            }
        }
    }

    private final class LeaveCall extends Call {
        private final String memberId = status.memberId();
        private final CompletableFuture<Void> left;

        private LeaveCall(CompletableFuture<Void> left) {
            super(ApiKey.CONSUMER_GROUP_HEARTBEAT, cluster.config().requestTimeoutMs());
            this.left = left;
        }

        @Override
        protected ApiMessage request(short version) {
            return heartbeat.leave(memberId);
        }

        @Override
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            left.complete(null);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            left.complete(null);
        }
    }
}
