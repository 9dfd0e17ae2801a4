package io.journalq.server.peer;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.server.loop.LoopCycle;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/**
 * Sends requests of one purpose to other brokers, by their ids. Each purpose has connections of its own, because
 * responses arrive in the order of the requests: one that waits for long delays only those of the same purpose. Any
 * thread.
 */
public final class PeerRequests {
    private final LoopCycle cycle;
    private final IntFunction<PeerChannel> opener;
    /** By broker. On the loop. */
    private final Map<Integer, PeerChannel> open = new HashMap<>();

    /** Reads what a response contains. */
    @FunctionalInterface
    public interface ResponseReader<R> {
        /**
         * Reads a response.
         *
         * @throws IOException if it does not say what the other broker has done
         */
        R read(ApiMessage response) throws IOException;
    }

    /**
     * Opens no connection before the first request.
     *
     * @param cycle of the loop on which responses arrive
     * @param opener opens a connection for that loop to the broker with an id; null if its address is unknown
     */
    public PeerRequests(LoopCycle cycle, IntFunction<PeerChannel> opener) {
        this.cycle = cycle;
        this.opener = opener;
    }

    /**
     * Sends a request.
     *
     * @param version of the API of the request, which the other broker must serve
     * @param timeoutMs the request fails if there is no response after this time
     * @return the response, on the loop. The future fails with an {@link IOException} if it is not known whether the
     *     broker has done what the request asks for
     */
    public CompletableFuture<ApiMessage> send(int broker, ApiMessage request, int version, int timeoutMs) {
        return send(broker, request, version, timeoutMs, response -> response);
    }

    /**
     * Like {@link #send(int, ApiMessage, int, int)}, for a response with records, which live only while it is read.
     *
     * @param reader reads the response, on the loop
     */
    public <R> CompletableFuture<R> send(
            int broker, ApiMessage request, int version, int timeoutMs, ResponseReader<R> reader) {
        CompletableFuture<R> result = new CompletableFuture<>();
        if (!cycle.execute(() -> sendOnLoop(broker, request, version, timeoutMs, reader, result))) {
            result.completeExceptionally(new IOException("the broker is stopping"));
        }
        return result;
    }

    private <R> void sendOnLoop(
            int broker,
            ApiMessage request,
            int version,
            int timeoutMs,
            ResponseReader<R> reader,
            CompletableFuture<R> result) {
        PeerChannel channel = open.get(broker);
        if (channel == null || !channel.isOpen()) {
            channel = opener.apply(broker);
            if (channel == null) {
                result.completeExceptionally(new IOException("the address of broker " + broker + " is unknown"));
                return;
            }
            open.put(broker, channel);
        }
        channel.send(request, version, timeoutMs, new PeerChannel.ResponseListener() {
            @Override
            public void onResponse(ApiMessage response) {
                try {
                    result.complete(reader.read(response));
                } catch (IOException failure) {
                    result.completeExceptionally(failure);
                } catch (RuntimeException | OutOfMemoryError | LinkageError notRead) {
                    // The sender of the request waits for its end.
                    result.completeExceptionally(
                            new IOException("cannot read a response of broker " + broker, notRead));
                }
            }

            @Override
            public void onFailure(IOException reason) {
                result.completeExceptionally(reason);
            }
        });
    }

    /** Runs {@code work} on the loop after a time. */
    public void later(Runnable work, long delayMs) {
        cycle.execute(() -> cycle.loop().schedule(work, delayMs));
    }
}
