package io.journalq.client.coordinator;

import io.journalq.client.JournalQException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.Errors;
import io.journalq.client.network.BrokerConnection;
import io.journalq.client.network.Call;
import io.journalq.client.network.Cluster;
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
 * The broker that coordinates one group or one transactional id. It is looked up when it is needed and again after it said
 * that it is not, or broke off. Requests go over a connection of their own, so that none waits behind a Fetch that the
 * broker holds back. Belongs to the event loop, except {@link #ask}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a task on the loop that fails is logged by it
public final class Coordinator {
    private static final int UNKNOWN = -1;
    private static final short FIRST_BATCHED_VERSION = 4;

    /** What is coordinated. */
    public enum Kind {
        GROUP((byte) 0),
        TRANSACTION((byte) 1);

        private final byte keyType;

        Kind(byte keyType) {
            this.keyType = keyType;
        }
    }

    /** Hears how a look-up ended. */
    public interface Found {
        /**
         * Called once.
         *
         * @param connection to the coordinator; null when there is none now
         * @param failure why; null with a connection
         */
        void onCoordinator(BrokerConnection connection, JournalQException failure);
    }

    private final Cluster cluster;
    private final Kind kind;
    private final String key;
    private final List<Found> waiting = new ArrayList<>();
    private int node = UNKNOWN;
    private volatile BrokerConnection lastAnswered;

    public Coordinator(Cluster cluster, Kind kind, String key) {
        this.cluster = cluster;
        this.kind = kind;
        this.key = key;
    }

    /** Finds the coordinator, at once when it is known. */
    public void find(Found then) {
        if (cluster.isClosed()) {
            then.onCoordinator(null, new ClientClosedException("the client is closed; build another"));
        } else if (node != UNKNOWN) {
            BrokerConnection connection = cluster.connection(Cluster.secondConnection(node));
            if (connection == null) {
                // Its address is not known, or it broke a moment ago: then another may have taken over.
                cluster.metadata().requestUpdate();
                JournalQException last = cluster.lastFailure(Cluster.secondConnection(node));
                node = last == null ? node : UNKNOWN;
                then.onCoordinator(null, last == null ? cluster.noBroker() : last);
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

    /** The level of a feature, as the coordinator that answered last knows it; 0 when it is not in force. Any thread. */
    public short featureLevel(String name) {
        return lastAnswered == null ? 0 : lastAnswered.featureLevel(name);
    }

    /** A request to the coordinator failed with this: perhaps another broker is it now. */
    public void onError(ErrorCode error) {
        if (error == ErrorCode.NOT_COORDINATOR || error == ErrorCode.COORDINATOR_NOT_AVAILABLE) {
            node = UNKNOWN;
        }
    }

    /** The connection broke. */
    public void onNoAnswer() {
        node = UNKNOWN;
    }

    /**
     * Asks until there is an answer, an error that will stay, or the time is over. Any thread.
     *
     * @return completes on the event loop
     */
    public <R extends ApiMessage> CompletableFuture<R> ask(Question<R> question, long timeoutMs) {
        Inquiry<R> inquiry = new Inquiry<>(question, timeoutMs);
        cluster.eventLoop().execute(inquiry::attempt);
        return inquiry.result;
    }

    private void lookUp() {
        BrokerConnection any = cluster.anyConnection();
        if (any == null) {
            tell(cluster.noBroker());
            return;
        }
        any.send(new LookUpCall());
        any.flush();
    }

    private void tell(JournalQException failure) {
        List<Found> told = List.copyOf(waiting);
        waiting.clear();
        for (Found found : told) {
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
        protected void onAnswer(ApiMessage message, ByteBuf frame, short version) {
            FindCoordinatorResponse answer = (FindCoordinatorResponse) message;
            int found = answer.nodeId();
            ErrorCode error = ErrorCode.of(answer.errorCode());
            if (version >= FIRST_BATCHED_VERSION) {
                error = ErrorCode.COORDINATOR_NOT_AVAILABLE;
                if (answer.coordinators().size() == 1) {
                    FindCoordinatorResponse.Coordinator only =
                            answer.coordinators().get(0);
                    found = only.nodeId();
                    error = ErrorCode.of(only.errorCode());
                }
            }
            if (error != ErrorCode.NONE) {
                tell(Errors.of(error, "look-up of the coordinator of " + key, null));
                return;
            }
            node = found;
            tell(null);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            tell(cause);
        }
    }

    /** One question on its way. */
    private final class Inquiry<R extends ApiMessage> {
        private final Question<R> question;
        private final CompletableFuture<R> result = new CompletableFuture<>();
        private final long endNanos;
        private int failures;

        private Inquiry(Question<R> question, long timeoutMs) {
            this.question = question;
            this.endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        }

        private void attempt() {
            find((connection, failure) -> {
                if (failure != null) {
                    againOrFail(failure, failure.retriable());
                } else {
                    connection.send(new InquiryCall<>(this, connection));
                    connection.flush();
                }
            });
        }

        private void onAnswer(ApiMessage message) {
            R answer = question.cast(message);
            ErrorCode error = question.errorOf(answer);
            if (error == ErrorCode.NONE) {
                result.complete(answer);
                return;
            }
            onError(error);
            againOrFail(question.failure(error), question.isRetriable(error));
        }

        private void againOrFail(JournalQException cause, boolean retriable) {
            failures++;
            long delayNanos = TimeUnit.MILLISECONDS.toNanos(
                    cluster.config().retryBackoff().delayMs(failures));
            if (!retriable || cluster.isClosed() || System.nanoTime() + delayNanos - endNanos >= 0) {
                result.completeExceptionally(cause);
            } else {
                cluster.eventLoop().schedule(this::attempt, delayNanos, TimeUnit.NANOSECONDS);
            }
        }
    }

    private final class InquiryCall<R extends ApiMessage> extends Call {
        private final Inquiry<R> inquiry;
        private final BrokerConnection connection;

        private InquiryCall(Inquiry<R> inquiry, BrokerConnection connection) {
            super(inquiry.question.apiKey(), cluster.config().requestTimeoutMs());
            this.inquiry = inquiry;
            this.connection = connection;
        }

        @Override
        protected short newestVersion() {
            return inquiry.question.newestVersion();
        }

        @Override
        protected ApiMessage request(short version) {
            return inquiry.question.request(version);
        }

        @Override
        protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
            lastAnswered = connection;
            inquiry.onAnswer(answer);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            onNoAnswer();
            inquiry.againOrFail(cause, cause.retriable());
        }
    }
}
