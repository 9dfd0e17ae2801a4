package io.journalq.client.internal.produce;

import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.internal.network.BrokerConnection;
import io.journalq.client.internal.network.Call;
import io.journalq.client.internal.network.Cluster;
import io.journalq.client.internal.network.Errors;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.InitProducerIdRequest;
import io.journalq.common.protocol.message.InitProducerIdResponse;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The producer id and epoch for the sequence numbers of batches (KIP-98). Requests one when it is needed, and retries
 * with backoff. Belongs to the event loop; any thread may call {@link #isKnown}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the event loop logs tasks that fail
final class Identity {
    private final Cluster cluster;
    private final boolean transactional;
    private final Runnable onKnown;
    private final Consumer<JournalQException> onRefused;
    private volatile Given given;
    private boolean asking;
    private int failures;

    private record Given(long producerId, short epoch) {
        private boolean isOf(Lane lane) {
            return lane.producerId == producerId && lane.producerEpoch == epoch;
        }
    }

    /**
     * Creates an identity without a producer id.
     *
     * @param transactional whether the id is not requested here, but set by {@link #adopt}
     * @param onKnown runs when the id is known
     * @param onRefused receives an error that is not retriable
     */
    Identity(Cluster cluster, boolean transactional, Runnable onKnown, Consumer<JournalQException> onRefused) {
        this.cluster = cluster;
        this.transactional = transactional;
        this.onKnown = onKnown;
        this.onRefused = onRefused;
    }

    boolean isKnown() {
        return given != null;
    }

    /**
     * Assigns the producer id to a lane that has none. Called by the owner of the lane's sending state.
     *
     * @return false if the id is not known yet
     */
    boolean give(Lane lane) {
        boolean known = lane.producerId != RecordBatch.NO_PRODUCER_ID;
        if (known && !transactional) {
            return true;
        }
        Given now = given;
        if (now != null && !(known && now.isOf(lane))) {
            assign(lane, now);
        }
        return now != null;
    }

    /**
     * Gives a lane new sequence numbers: with the next epoch, or with a new producer id if the epochs are exhausted
     * (KIP-360).
     *
     * @return false if a new id has to be requested first
     */
    boolean renew(Lane lane) {
        Given now = given;
        if (now != null && lane.producerId != now.producerId) {
            assign(lane, now);
        } else if (lane.producerEpoch < Short.MAX_VALUE) {
            lane.producerEpoch++;
            lane.nextSequence = 0;
            lane.established = false;
        } else {
            given = null;
            ask();
            return false;
        }
        return true;
    }

    private static void assign(Lane lane, Given identity) {
        lane.producerId = identity.producerId;
        lane.producerEpoch = identity.epoch;
        lane.nextSequence = 0;
        lane.established = false;
    }

    /** Sets the producer id and epoch of the next transaction. Lanes use it for the batches that they send next. */
    void adopt(long producerId, short epoch) {
        given = new Given(producerId, epoch);
        onKnown.run();
    }

    /**
     * Whether a batch is one of an earlier transaction, which is aborted without waiting for it if its thread was
     * interrupted.
     */
    boolean isOutdated(PendingBatch batch) {
        Given now = given;
        return transactional
                && now != null
                && batch.isNumbered()
                && (batch.producerId != now.producerId || batch.producerEpoch != now.epoch);
    }

    /** Requests an id, unless a request is in progress. */
    void ask() {
        if (asking || transactional) {
            return;
        }
        asking = true;
        BrokerConnection connection = cluster.anyConnection();
        if (connection == null) {
            askLater();
            return;
        }
        connection.send(new IdentityCall());
        connection.flush();
    }

    private void askLater() {
        failures++;
        long delayMs = cluster.config().retryBackoff().delayMs(failures);
        cluster.eventLoop()
                .schedule(
                        () -> {
                            asking = false;
                            if (!cluster.isClosed()) {
                                ask();
                            }
                        },
                        delayMs,
                        TimeUnit.MILLISECONDS);
    }

    private void refused(JournalQException cause) {
        asking = false;
        cluster.failureLog().reportIfRefused("producer id", cause);
        onRefused.accept(
                cause instanceof UnsupportedByBrokerException
                        ? new UnsupportedByBrokerException(
                                "the broker does not support idempotent producers (InitProducerId);"
                                        + " build the producer with idempotent(false), or use a newer broker",
                                cause)
                        : cause);
    }

    private final class IdentityCall extends Call {
        private IdentityCall() {
            super(ApiKey.INIT_PRODUCER_ID, cluster.config().requestTimeoutMs());
        }

        @Override
        protected ApiMessage request(short version) {
            return new InitProducerIdRequest().setTransactionalId(null).setTransactionTimeoutMs(Integer.MAX_VALUE);
        }

        @Override
        protected void onResponse(ApiMessage message, ByteBuf frame, short version) {
            InitProducerIdResponse response = (InitProducerIdResponse) message;
            ErrorCode error = ErrorCode.of(response.errorCode());
            if (error == ErrorCode.NONE) {
                asking = false;
                failures = 0;
                given = new Given(response.producerId(), response.producerEpoch());
                onKnown.run();
            } else if (error.retriable()) {
                askLater();
            } else {
                refused(Errors.of(error, "the request for a producer id", null));
            }
        }

        @Override
        protected void onFailure(JournalQException cause) {
            if (cause.retriable()) {
                askLater();
            } else {
                refused(cause);
            }
        }
    }
}
