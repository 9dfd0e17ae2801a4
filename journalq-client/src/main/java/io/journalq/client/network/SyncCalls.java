package io.journalq.client.network;

import io.journalq.client.JournalQException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Requests whose caller waits for the answer and that need no speed: look-ups and administration. Any thread but the
 * event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a task on the loop that fails is logged by it
public final class SyncCalls {
    /** Any broker will do. */
    public static final int ANY_BROKER = Integer.MIN_VALUE;

    /** How much later than a request's own time-out its caller gives up. */
    public static final long ANSWER_GRACE_MS = 1_000;

    private static final long NO_CONNECTION_PAUSE_MS = 50;

    private final Cluster cluster;

    public SyncCalls(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Builds a request of the version that the broker and this client have in common. */
    @FunctionalInterface
    public interface RequestMaker {
        ApiMessage make(short version);
    }

    /** The end of a call's time, and the pauses between its tries. For one thread. */
    public final class Patience {
        private final long endNanos;
        private int failures;

        private Patience(long timeoutMs) {
            this.endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        }

        long leftMs() {
            return TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
        }

        /** Waits before another try; throws {@code cause} when it is not worth one, or the time is over. */
        public void pauseOrThrow(JournalQException cause) {
            failures++;
            long delayMs = cluster.config().retryBackoff().delayMs(failures);
            if (!cause.retriable() || delayMs > leftMs()) {
                throw cause;
            }
            sleep(delayMs);
        }
    }

    /** The patience of one call, by the client's call time-out. */
    public Patience patience() {
        return new Patience(cluster.config().callTimeoutMs());
    }

    /** Runs {@code attempt} until it returns, fails for good, or the call's time is over. */
    public <R> R retrying(Supplier<R> attempt) {
        Patience patience = patience();
        while (true) {
            try {
                return attempt.get();
            } catch (JournalQException e) {
                patience.pauseOrThrow(e);
            }
        }
    }

    /** As {@link #retrying}, but takes the broker's word that a topic does not exist: a person waits for the answer. */
    public <R> R retryingUnlessAbsent(Supplier<R> attempt) {
        Patience patience = patience();
        while (true) {
            try {
                return attempt.get();
            } catch (UnknownTopicException absent) {
                throw absent;
            } catch (JournalQException e) {
                patience.pauseOrThrow(e);
            }
        }
    }

    /**
     * Sends one request and waits.
     *
     * @param nodeId a broker, or {@link #ANY_BROKER}
     * @param newest newest version that the caller makes use of; the API's newest if that is older
     * @throws JournalQException when there is no answer
     */
    public <R extends ApiMessage> R call(int nodeId, ApiKey key, int newest, Class<R> answerType, RequestMaker maker) {
        int timeoutMs =
                Math.min(cluster.config().requestTimeoutMs(), cluster.config().callTimeoutMs());
        CompletableFuture<ApiMessage> result = new CompletableFuture<>();
        cluster.eventLoop().execute(() -> send(nodeId, new FutureCall(key, newest, timeoutMs, maker, result)));
        return answerType.cast(await(result, timeoutMs + ANSWER_GRACE_MS, "answer to " + key));
    }

    /**
     * Waits for a result that comes with a time-out of its own.
     *
     * @param what for messages
     * @throws JournalQException what it failed with, or that the time is over
     */
    public static <R> R await(CompletableFuture<R> result, long timeoutMs, String what) {
        try {
            return result.get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof JournalQException known) {
                throw known;
            }
            throw new IllegalStateException("a request could not be sent", e.getCause());
        } catch (TimeoutException e) {
            throw new RequestTimedOutException(
                    "no " + what + " within " + timeoutMs + " ms; check the broker, or raise requestTimeoutMs", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted while waiting for " + what, e);
        }
    }

    private void send(int nodeId, FutureCall call) {
        if (cluster.isClosed()) {
            call.onFailure(new ClientClosedException("the client is closed; build another"));
            return;
        }
        BrokerConnection connection = nodeId == ANY_BROKER ? cluster.anyConnection() : cluster.connection(nodeId);
        if (connection == null) {
            if (nodeId != ANY_BROKER) {
                cluster.metadata().requestUpdate();
            }
            cluster.eventLoop()
                    .schedule(() -> call.onFailure(cluster.noBroker()), NO_CONNECTION_PAUSE_MS, TimeUnit.MILLISECONDS);
            return;
        }
        connection.send(call);
        connection.flush();
    }

    private static void sleep(long delayMs) {
        try {
            Thread.sleep(delayMs);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted before another try", e);
        }
    }

    private static final class FutureCall extends Call {
        private final short newest;
        private final RequestMaker maker;
        private final CompletableFuture<ApiMessage> result;

        private FutureCall(
                ApiKey key, int newest, int timeoutMs, RequestMaker maker, CompletableFuture<ApiMessage> result) {
            super(key, timeoutMs);
            this.newest = (short) Math.min(newest, key.highestVersion());
            this.maker = maker;
            this.result = result;
        }

        @Override
        protected short newestVersion() {
            return newest;
        }

        @Override
        protected ApiMessage request(short version) {
            return maker.make(version);
        }

        @Override
        protected void onAnswer(ApiMessage answer, ByteBuf frame, short version) {
            result.complete(answer);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            result.completeExceptionally(cause);
        }
    }
}
