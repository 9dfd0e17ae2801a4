package io.journalq.server.gateway.http;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.SharedMemory;
import io.netty.buffer.ByteBufAllocator;
import java.util.function.Consumer;

/** Calls the broker's handlers for a client, and keeps memory for it. All of this happens on its loop. */
public interface Caller {
    /** The loop. */
    LoopCycle cycle();

    ByteBufAllocator allocator();

    /** Whether it has ended. Its calls go on, but nobody waits for what they bring. */
    boolean isClosed();

    /**
     * Calls the handler of an API, at the brokers that can serve it.
     *
     * @param sizeBytes counts against the quota of produced bytes
     * @param onResponse receives the response, also after the end
     */
    void call(ApiKey api, int version, ApiMessage message, int sizeBytes, Consumer<ApiMessage> onResponse);

    /**
     * Calls the handler of Fetch.
     *
     * @param memory in which the fetched records will be
     * @param onResponse receives the response, also after the end
     */
    void fetch(int version, FetchRequest request, RecordMemory memory, Consumer<ApiMessage> onResponse);

    /** Runs {@code work} in another iteration of the loop, also after the end. */
    void later(Runnable work);

    /** Runs {@code work} after a time, also after the end, unless the timer is cancelled. */
    Loop.Timer schedule(Runnable work, long delayMs);

    /** The memory that all clients share. */
    SharedMemory memory();
}
