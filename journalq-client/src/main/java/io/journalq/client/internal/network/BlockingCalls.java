package io.journalq.client.internal.network;

import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Blocking requests, for lookups and administration. Any thread except the event loop. */
public final class BlockingCalls {
    /** Stands for any broker. */
    public static final int ANY_BROKER = Integer.MIN_VALUE;

    /** The time that a caller waits in addition to the timeout of its request, in milliseconds. */
    private static final long RESPONSE_GRACE_MS = 1_000;

    private static final long NO_CONNECTION_PAUSE_MS = 50;

    private final Cluster cluster;

    public BlockingCalls(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Builds a request of a given version. */
    @FunctionalInterface
    public interface RequestBuilder {
        ApiMessage make(short version);
    }

    /** The deadline of a call, and the backoff between its attempts. For one thread. */
    public final class Deadline {
        private final long endNanos;
        private int failures;

        private Deadline(long timeoutMs) {
            this.endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        }

        long leftMs() {
            return TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
        }

        /** Waits before the next attempt. Throws {@code cause} if it is not retriable or the deadline has passed. */
        public void pauseOrThrow(JournalQException cause) {
            failures++;
            reportIfRefused(cause);
            long delayMs = cluster.config().retryBackoff().delayMs(failures);
            if (!cause.retriable() || delayMs > leftMs()) {
                throw cause;
            }
            cluster.waits().pause(delayMs);
        }
    }

    /** Returns the deadline of a call that starts now, according to {@code callTimeout}. */
    public Deadline deadline() {
        return new Deadline(cluster.config().callTimeoutMs());
    }

    /**
     * Repeats {@code attempt} until it returns, fails with an error that is not retriable, or {@code callTimeout} has
     * passed.
     */
    public <R> R retrying(Supplier<R> attempt) {
        Deadline deadline = deadline();
        while (true) {
            try {
                return attempt.get();
            } catch (JournalQException e) {
                deadline.pauseOrThrow(e);
            }
        }
    }

    /** Like {@link #retrying}, but does not retry if a topic does not exist. */
    public <R> R retryingUnlessAbsent(Supplier<R> attempt) {
        Deadline deadline = deadline();
        while (true) {
            try {
                return attempt.get();
            } catch (UnknownTopicException absent) {
                throw absent;
            } catch (JournalQException e) {
                deadline.pauseOrThrow(e);
            }
        }
    }

    /**
     * Sends one request and waits for the response.
     *
     * @param nodeId the id of a broker, or {@link #ANY_BROKER}
     * @param newest the newest version that the caller supports; it may be newer than the API has
     * @throws JournalQException if no response arrives
     */
    public <R extends ApiMessage> R call(
            int nodeId, ApiKey key, int newest, Class<R> responseType, RequestBuilder maker) {
        int timeoutMs =
                Math.min(cluster.config().requestTimeoutMs(), cluster.config().callTimeoutMs());
        CompletableFuture<ApiMessage> result = new CompletableFuture<>();
        cluster.execute(() -> send(nodeId, new FutureCall(key, newest, timeoutMs, maker, result)));
        return responseType.cast(await(result, timeoutMs, key + " request"));
    }

    /** Logs a failure that is thrown without another attempt, if it is a refused authorization. */
    public void reportIfRefused(JournalQException failure) {
        cluster.failureLog().reportIfRefused(failure.getMessage(), failure);
    }

    /**
     * Waits for the result of a request, a little longer than the request itself may take.
     *
     * @param what the subject of error messages
     * @throws JournalQException if the result is a failure or does not arrive in time
     */
    public <R> R await(CompletableFuture<R> result, long timeoutMs, String what) {
        return cluster.waits().join(result, timeoutMs + RESPONSE_GRACE_MS, what);
    }

    private void send(int nodeId, FutureCall call) {
        if (cluster.isClosed()) {
            call.onFailure(Cluster.closedClient());
            return;
        }
        BrokerConnection connection = nodeId == ANY_BROKER ? cluster.anyConnection() : cluster.connection(nodeId);
        if (connection == null) {
            if (nodeId != ANY_BROKER) {
                cluster.metadata().requestUpdate();
            }
            cluster.executeLater(
                    () -> call.onFailure(cluster.isClosed() ? Cluster.closedClient() : cluster.noBroker()),
                    TimeUnit.MILLISECONDS.toNanos(NO_CONNECTION_PAUSE_MS));
            return;
        }
        connection.send(call);
        connection.flush();
    }

    private static final class FutureCall extends Call {
        private final short newest;
        private final RequestBuilder maker;
        private final CompletableFuture<ApiMessage> result;

        private FutureCall(
                ApiKey key, int newest, int timeoutMs, RequestBuilder maker, CompletableFuture<ApiMessage> result) {
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
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            result.complete(response);
        }

        @Override
        protected void onFailure(JournalQException cause) {
            result.completeExceptionally(cause);
        }
    }
}
