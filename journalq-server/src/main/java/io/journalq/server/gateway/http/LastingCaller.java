package io.journalq.server.gateway.http;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.api.LocalCall;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.LoopContext;
import io.journalq.server.network.SharedMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client between its requests: what it has begun continues with its identity and its quotas, and counts as a connection
 * in the memory for connections. On the loop of the request that has begun it, except {@link #run}.
 */
public final class LastingCaller implements Caller, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(LastingCaller.class);

    private final HttpDoor.Services services;
    private final LoopContext loop;
    private final ByteBufAllocator allocator;
    private final LocalCall.Client client;
    private final Runnable onFailure;
    private volatile long pausedUntilNanos;
    private boolean closed;

    LastingCaller(HttpConnection connection, Runnable onFailure, IntSupplier receivers) {
        this.services = connection.services();
        this.loop = connection.loop();
        this.allocator = connection.channel().alloc();
        this.onFailure = onFailure;
        this.pausedUntilNanos = loop.cycle().loop().nanoTime();
        this.client = connection.identity().lasting(this::pause, receivers);
    }

    private void pause(int durationMs) {
        if (durationMs > 0) {
            pausedUntilNanos = loop.cycle().loop().nanoTime() + TimeUnit.MILLISECONDS.toNanos(durationMs);
        }
    }

    /** How long the client has to wait before its next request is served, because it has used up a quota; 0 if not. */
    public long pauseMs() {
        return Math.max(
                0,
                TimeUnit.NANOSECONDS.toMillis(
                        pausedUntilNanos - loop.cycle().loop().nanoTime()));
    }

    /**
     * Charges memory for what the broker keeps, until {@link #close}.
     *
     * @param bytes are given back if negative
     * @return whether there is room. If not, nothing is charged
     */
    public boolean charge(long bytes) {
        return client.session().charge(bytes);
    }

    /** Runs {@code work} on the loop: now if the caller is on it, and otherwise later. Any thread. */
    public void run(Runnable work) {
        cycle().execute(() -> guarded(work));
    }

    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (ProblemException refusal) {
            log.error("unexpected problem of a client of {}", client.remoteAddress(), refusal);
            onFailure.run();
        } catch (RuntimeException defect) {
            log.error("unexpected failure for a client of {}", client.remoteAddress(), defect);
            onFailure.run();
        } catch (OutOfMemoryError noDirectMemory) {
            loop.shortages()
                    .warn("consumer closed, out of direct memory", client.remoteAddress(), noDirectMemory.getMessage());
            onFailure.run();
        }
    }

    @Override
    public LoopCycle cycle() {
        return loop.cycle();
    }

    @Override
    public ByteBufAllocator allocator() {
        return allocator;
    }

    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public void call(ApiKey api, int version, ApiMessage message, int sizeBytes, Consumer<ApiMessage> onResponse) {
        call(client, api, version, message, sizeBytes, onResponse);
    }

    @Override
    public void fetch(int version, FetchRequest request, RecordMemory memory, Consumer<ApiMessage> onResponse) {
        call(client.reserving(memory), ApiKey.FETCH, version, request, 0, onResponse);
    }

    private void call(
            LocalCall.Client sender,
            ApiKey api,
            int version,
            ApiMessage message,
            int sizeBytes,
            Consumer<ApiMessage> onResponse) {
        services.counters().onCall(api);
        services.calls()
                .call(sender, api, version, message, sizeBytes, response -> guarded(() -> onResponse.accept(response)));
    }

    @Override
    public void later(Runnable work) {
        cycle().enqueueForNextIteration(() -> guarded(work));
    }

    @Override
    public Loop.Timer schedule(Runnable work, long delayMs) {
        return cycle().loop().schedule(() -> guarded(work), delayMs);
    }

    @Override
    public SharedMemory memory() {
        return loop.memory();
    }

    /** Ends it, and gives its memory back. Called once. */
    @Override
    public void close() {
        closed = true;
        client.session().close();
    }
}
