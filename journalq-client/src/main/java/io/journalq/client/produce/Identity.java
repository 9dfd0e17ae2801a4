package io.journalq.client.produce;

import io.journalq.client.JournalQException;
import io.journalq.client.error.Errors;
import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.network.BrokerConnection;
import io.journalq.client.network.Call;
import io.journalq.client.network.Cluster;
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
 * The producer id and epoch under which batches are numbered (KIP-98). Asks for one when it is needed, again after a
 * pause when that failed. Belongs to the event loop; {@link #isKnown} may be asked by any thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a task on the loop that fails is logged by it
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
     * An identity that is not known yet.
     *
     * @param transactional whether it is not asked for here, but given by {@link #adopt}
     * @param onKnown runs when it is
     * @param onRefused hears an error that will not go away
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
     * Gives a lane that never had one the identity to number its batches with. By the owner of the lane's sending state.
     *
     * @return false when it is not known yet
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
     * Moves a lane on to a fresh range of numbers: the next epoch, or when epochs ran out another producer id (KIP-360).
     *
     * @return false when another id must be awaited first
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

    /** The identity of the transactions that come: lanes number what they send next under it. */
    void adopt(long producerId, short epoch) {
        given = new Given(producerId, epoch);
        onKnown.run();
    }

    /** Asks for an id unless that is under way. */
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
        onRefused.accept(
                cause instanceof UnsupportedByBrokerException
                        ? new UnsupportedByBrokerException(
                                "the broker does not serve idempotent producers (InitProducerId);"
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
        protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
            InitProducerIdResponse response = (InitProducerIdResponse) answer;
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
