package io.journalq.client.membership;

import io.journalq.client.JournalQException;
import io.journalq.client.coordinator.Coordinator;
import io.journalq.client.error.Errors;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.membership.Standing.State;
import io.journalq.client.network.BrokerConnection;
import io.journalq.client.network.Call;
import io.journalq.client.network.Cluster;
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
 * One consumer's membership in its group: joins, sends heartbeats, hears what the group assigns, leaves; and goes by itself
 * when the consumer's thread stays away for too long (KIP-848). It decides nothing about partitions: the consumer's thread
 * takes and gives them up, and tells by {@link #own}.
 *
 * <p>Belongs to the event loop. {@link #standing} and {@link #polled} are for any thread, and the methods that say so hop
 * to the loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a task on the loop that fails is logged by it
public final class Membership {
    private static final int TICK_MS = 50;

    private final Cluster cluster;
    private final GroupConfig config;
    private final Coordinator coordinator;
    private final Runnable onNews;
    private final Heartbeat heartbeat;
    private volatile Standing standing;
    private volatile long polledNanos = System.nanoTime();

    private ScheduledFuture<?> ticks;
    /** Grows when the member leaves or is lost: answers to earlier heartbeats count no more. */
    private int term;

    private boolean inFlight;
    private boolean due;
    private long nextNanos;
    private int failures;

    /**
     * A membership that is none yet.
     *
     * @param onNews runs on the loop whenever {@link #standing} changed
     */
    Membership(Cluster cluster, GroupConfig config, Coordinator coordinator, Runnable onNews) {
        this.cluster = cluster;
        this.config = config;
        this.coordinator = coordinator;
        this.onNews = onNews;
        this.heartbeat = new Heartbeat(config);
        UUID id = UUID.randomUUID();
        this.standing = Standing.out(new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits()).toString());
    }

    /** Where the member is now. Any thread. */
    Standing standing() {
        return standing;
    }

    /** The consumer's thread is alive. Any thread. */
    void polled() {
        polledNanos = System.nanoTime();
    }

    /** Joins, or tells the group of another subscription. Any thread. */
    void join(Subscription subscription) {
        polled();
        cluster.eventLoop().execute(() -> {
            heartbeat.subscribe(subscription);
            State state = standing.state();
            if (state == State.OUT || state == State.FAILED) {
                enter(State.JOINING, null);
            }
            send();
        });
    }

    /** Joins again after the membership was lost, and the consumer's thread let go of everything. Any thread. */
    void rejoin() {
        cluster.eventLoop().execute(() -> {
            if (standing.state() == State.LOST) {
                enter(State.JOINING, null);
                send();
            }
        });
    }

    /** The consumer uses these partitions now and no others. Any thread. */
    void own(Set<Owned> partitions) {
        cluster.eventLoop().execute(() -> {
            if (standing.isIn()) {
                heartbeat.own(partitions);
                send();
            }
        });
    }

    /** Leaves; the group's other members get the partitions. Any thread. Completes when the group heard it or cannot. */
    CompletableFuture<Void> leave() {
        CompletableFuture<Void> left = new CompletableFuture<>();
        cluster.eventLoop().execute(() -> {
            State state = standing.state();
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
        heartbeat.forgetTold();
        heartbeat.own(Set.of());
        standing = new Standing(state, standing.memberId(), Heartbeat.JOIN_EPOCH, null, failure);
        boolean active = state == State.JOINING;
        if (active && ticks == null) {
            ticks = cluster.eventLoop().scheduleAtFixedRate(this::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
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
        } else if (standing.isIn()
                && nowNanos - polledNanos > TimeUnit.MILLISECONDS.toNanos(config.maxPollIntervalMs())) {
            sendLeave(new CompletableFuture<>());
            enter(State.LOST, null);
        } else if (nowNanos - nextNanos >= 0) {
            send();
        }
    }

    private void send() {
        State state = standing.state();
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
                onNoAnswer(failure);
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

    private void onAnswer(ConsumerGroupHeartbeatResponse answer, long sentNanos) {
        inFlight = false;
        ErrorCode error = ErrorCode.of(answer.errorCode());
        switch (error) {
            case NONE -> accept(answer, sentNanos);
            case FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID -> enter(State.LOST, null);
            default -> {
                coordinator.onError(error);
                JournalQException cause =
                        Errors.of(error, "membership in group " + config.groupId(), answer.errorMessage());
                if (error.retriable()) {
                    again();
                } else {
                    enter(State.FAILED, cause);
                }
            }
        }
    }

    private void accept(ConsumerGroupHeartbeatResponse answer, long sentNanos) {
        failures = 0;
        nextNanos = sentNanos + TimeUnit.MILLISECONDS.toNanos(Math.max(TICK_MS, answer.heartbeatIntervalMs()));
        Standing before = standing;
        Set<Owned> target = Heartbeat.target(answer);
        standing = new Standing(
                State.IN,
                answer.memberId() == null ? before.memberId() : answer.memberId(),
                answer.memberEpoch(),
                target == null ? before.target() : target,
                null);
        if (!before.equals(standing)) {
            onNews.run();
        }
        if (due) {
            send();
        }
    }

    private void onNoAnswer(JournalQException cause) {
        inFlight = false;
        if (cause.retriable()) {
            again();
        } else if (cause instanceof UnsupportedByBrokerException) {
            enter(
                    State.FAILED,
                    new UnsupportedByBrokerException(
                            "the broker does not serve groups of the consumer protocol in the way that this consumer"
                                    + " needs (" + cause.getMessage() + "); use a newer broker, or assign partitions",
                            cause));
        } else {
            enter(State.FAILED, cause);
        }
    }

    private void again() {
        failures++;
        heartbeat.forgetTold();
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
            Standing now = standing;
            return heartbeat.next(now.memberId(), now.epoch(), version);
        }

        @Override
        protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
            if (sentTerm == term) {
                Membership.this.onAnswer((ConsumerGroupHeartbeatResponse) answer, sentNanos);
            }
        }

        @Override
        protected void onFailure(JournalQException cause) {
            coordinator.onNoAnswer();
            if (sentTerm == term) {
                onNoAnswer(cause);
            }
        }
    }

    private final class LeaveCall extends Call {
        private final String memberId = standing.memberId();
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
        protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
            left.complete(null);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            left.complete(null);
        }
    }
}
