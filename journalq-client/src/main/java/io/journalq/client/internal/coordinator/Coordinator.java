package io.journalq.client.internal.coordinator;

import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.BrokerConnection;
import io.journalq.client.internal.network.Call;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.Errors;
import io.journalq.client.internal.network.FailureLog;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The coordinator of one group or transactional id. Looks the broker up when it is needed, and again after the broker
 * has rejected a request as not being the coordinator or the connection has broken. Uses a connection of its own, so
 * that no request waits behind a parked fetch. Belongs to the event loop, except {@link #ask}.
 */
public final class Coordinator {
    private static final int UNKNOWN = -1;
    private static final short FIRST_BATCHED_VERSION = 4;

    /** The type of what is coordinated. */
    public enum Kind {
        GROUP((byte) 0),
        TRANSACTION((byte) 1);

        private final byte keyType;

        Kind(byte keyType) {
            this.keyType = keyType;
        }
    }

    /** Receives the result of a lookup. */
    public interface Found {
        /**
         * Called once.
         *
         * @param connection the connection to the coordinator, or null if there is none
         * @param failure the reason if there is no connection, else null
         */
        void onCoordinator(BrokerConnection connection, JournalQException failure);
    }

    private final Cluster cluster;
    private final Kind kind;
    private final String key;
    private final List<Found> waiting = new ArrayList<>();
    private int node = UNKNOWN;
    private volatile BrokerConnection lastResponder;

    public Coordinator(Cluster cluster, Kind kind, String key) {
        this.cluster = cluster;
        this.kind = kind;
        this.key = key;
    }

    /** Looks up the coordinator, or calls {@code then} immediately if it is known. */
    public void find(Found then) {
        if (cluster.isClosed()) {
            then.onCoordinator(null, Cluster.closedClient());
        } else if (node != UNKNOWN) {
            BrokerConnection connection = cluster.connection(Cluster.secondConnection(node));
            if (connection == null) {
                // Either its address is unknown, or its connection has just failed. Another broker may have taken over.
                cluster.metadata().requestUpdate();
                JournalQException last = cluster.lastFailure(Cluster.secondConnection(node));
                if (last == null) {
                    last = withoutAddress(node);
                }
                onNoResponse(last);
                then.onCoordinator(null, last);
            } else {
                then.onCoordinator(connection, null);
            }
        } else {
            waiting.add(then);
            if (waiting.size() == 1) {
                lookUp();
            }
        }
    }

    /**
     * Returns the level of a feature, as reported by the coordinator that responded last, or 0 if it is not in force.
     * Any thread.
     */
    public short featureLevel(String name) {
        return lastResponder == null ? 0 : lastResponder.featureLevel(name);
    }

    /** Handles an error of a request. Some errors mean that another broker is now the coordinator. */
    public void onError(ErrorCode error) {
        if (error == ErrorCode.NOT_COORDINATOR || error == ErrorCode.COORDINATOR_NOT_AVAILABLE) {
            node = UNKNOWN;
            reportLost(Errors.of(error, "the coordinator of " + subject(), null));
        }
    }

    /** Handles the loss of the connection. */
    public void onNoResponse(JournalQException cause) {
        if (node != UNKNOWN) {
            node = UNKNOWN;
            reportLost(cause);
        }
    }

    /** Logs a refused authorization of the group or transactional id. */
    public void reportIfRefused(JournalQException failure) {
        cluster.failureLog().reportIfRefused(subject(), failure);
    }

    private JournalQException withoutAddress(int brokerId) {
        return new ConnectionFailedException("the address of broker " + brokerId + ", the coordinator of " + subject()
                + ", is not known yet; check that the broker is running");
    }

    private void reportLost(JournalQException cause) {
        cluster.failureLog().report(FailureLog.Cause.LOST_COORDINATOR, subject(), cause);
    }

    private String subject() {
        return (kind == Kind.GROUP ? "group " : "transactional id ") + key;
    }

    /**
     * Sends a request, with retries until it succeeds, fails with an error that is not retriable, or times out. Any
     * thread.
     *
     * @return completes on the event loop
     */
    public <R extends ApiMessage> CompletableFuture<R> ask(CoordinatorRequest<R> coordinatorRequest, long timeoutMs) {
        PendingRequest<R> pending = new PendingRequest<>(coordinatorRequest, timeoutMs);
        cluster.execute(pending::attempt);
        return pending.result;
    }

    private void lookUp() {
        BrokerConnection any = cluster.anyConnection();
        if (any == null) {
            notifyWaiters(cluster.noBroker());
            return;
        }
        any.send(new LookUpCall());
        any.flush();
    }

    private void notifyWaiters(JournalQException failure) {
        List<Found> notified = List.copyOf(waiting);
        waiting.clear();
        for (Found found : notified) {
            if (failure == null) {
                find(found);
            } else {
                found.onCoordinator(null, failure);
            }
        }
    }

    private final class LookUpCall extends Call {
        private LookUpCall() {
            super(ApiKey.FIND_COORDINATOR, cluster.config().requestTimeoutMs());
        }

        @Override
        protected ApiMessage request(short version) {
            FindCoordinatorRequest request = new FindCoordinatorRequest();
            if (version > 0) {
                request.setKeyType(kind.keyType);
            }
            return version >= FIRST_BATCHED_VERSION ? request.setCoordinatorKeys(List.of(key)) : request.setKey(key);
        }

        @Override
        protected void onResponse(ApiMessage message, ByteBuf frame, short version) {
            FindCoordinatorResponse response = (FindCoordinatorResponse) message;
            int found = response.nodeId();
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (version >= FIRST_BATCHED_VERSION) {
                error = ErrorCode.COORDINATOR_NOT_AVAILABLE;
                if (response.coordinators().size() == 1) {
                    FindCoordinatorResponse.Coordinator only =
                            response.coordinators().get(0);
                    found = only.nodeId();
                    error = ErrorCode.of(only.errorCode());
                }
            }
            if (error != ErrorCode.NONE) {
                JournalQException failure = Errors.of(error, "lookup of the coordinator of " + subject(), null);
                if (error.retriable()) {
                    reportLost(failure);
                } else {
                    reportIfRefused(failure);
                }
                notifyWaiters(failure);
                return;
            }
            node = found;
            notifyWaiters(null);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            notifyWaiters(cause);
        }
    }

    /** A request with its retries. */
    private final class PendingRequest<R extends ApiMessage> {
        private final CoordinatorRequest<R> coordinatorRequest;
        private final CompletableFuture<R> result = new CompletableFuture<>();
        private final long endNanos;
        private int failures;

        private PendingRequest(CoordinatorRequest<R> coordinatorRequest, long timeoutMs) {
            this.coordinatorRequest = coordinatorRequest;
            this.endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        }

        private void attempt() {
            find((connection, failure) -> {
                if (failure != null) {
                    againOrFail(failure, failure.retriable());
                } else {
                    connection.send(new PendingRequestCall<>(this, connection));
                    connection.flush();
                }
            });
        }

        private void onResponse(ApiMessage message) {
            R response = coordinatorRequest.cast(message);
            ErrorCode error = coordinatorRequest.errorOf(response);
            if (error == ErrorCode.NONE) {
                result.complete(response);
                return;
            }
            onError(error);
            JournalQException failure = coordinatorRequest.failure(error);
            reportIfRefused(failure);
            againOrFail(failure, coordinatorRequest.isRetriable(error));
        }

        private void againOrFail(JournalQException cause, boolean retriable) {
            failures++;
            long delayNanos = TimeUnit.MILLISECONDS.toNanos(
                    cluster.config().retryBackoff().delayMs(failures));
            if (!retriable || cluster.isClosed() || System.nanoTime() + delayNanos - endNanos >= 0) {
                result.completeExceptionally(cause);
            } else {
                cluster.executeLater(this::attempt, delayNanos);
            }
        }
    }

    private final class PendingRequestCall<R extends ApiMessage> extends Call {
        private final PendingRequest<R> pending;
        private final BrokerConnection connection;
        /** Whether there is no longer a request to send, which says nothing about the coordinator. */
        private boolean withdrawn;

        private PendingRequestCall(PendingRequest<R> pending, BrokerConnection connection) {
            super(pending.coordinatorRequest.apiKey(), cluster.config().requestTimeoutMs());
            this.pending = pending;
            this.connection = connection;
        }

        @Override
        protected short newestVersion() {
            return pending.coordinatorRequest.newestVersion();
        }

        @Override
        protected ApiMessage request(short version) {
            try {
                return pending.coordinatorRequest.request(version);
            } catch (JournalQException e) {
                withdrawn = true;
                throw e;
            }
        }

        @Override
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            lastResponder = connection;
            pending.onResponse(response);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            if (!withdrawn) {
                onNoResponse(cause);
            }
            pending.againOrFail(cause, cause.retriable());
        }
    }
}
