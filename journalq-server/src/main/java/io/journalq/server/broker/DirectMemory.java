package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.network.SharedMemory;
import io.netty.util.internal.PlatformDependent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the direct memory that the process may use is shared out. Half of it at most is for requests, a quarter for responses
 * that wait for their clients. The rest is for what is not counted: unused parts of pooled chunks, one response of each loop
 * beyond its share, reads, decompression and write-ahead buffers.
 *
 * @param smallRequestBytes for requests of up to 1 MiB, spread over the loops
 * @param largeRequestBytes for larger ones, shared by the loops
 * @param responseBytes for responses
 */
record DirectMemory(long smallRequestBytes, long largeRequestBytes, long responseBytes) {
    private static final Logger log = LoggerFactory.getLogger(DirectMemory.class);

    private static final int REQUEST_PART = 2;
    private static final int RESPONSE_PART = 4;
    private static final int BYTES_PER_MIB = 1024 * 1024;

    /** Shares out what this process has, and says so in the log. */
    static DirectMemory of(BrokerConfig config) {
        return of(
                PlatformDependent.maxDirectMemory(),
                config.get(BrokerSettings.TOTAL_IN_FLIGHT_MAX_BYTES),
                config.get(BrokerSettings.SOCKET_REQUEST_MAX_BYTES));
    }

    /**
     * Shares out {@code availableBytes}.
     *
     * @param wantedBytes for requests; 0 for as much as there can be
     * @param largestRequestBytes what clients may send
     */
    static DirectMemory of(long availableBytes, long wantedBytes, long largestRequestBytes) {
        long mostBytes = Math.max(1, availableBytes / REQUEST_PART);
        if (wantedBytes > mostBytes) {
            log.warn(
                    "total.in.flight.max.bytes={} is more than half of the direct memory of this process, {} bytes: {} are"
                            + " used; give the process more with JOURNALQ_HEAP or -XX:MaxDirectMemorySize",
                    wantedBytes,
                    availableBytes,
                    mostBytes);
        }
        long requestBytes = wantedBytes == 0 ? mostBytes : Math.min(wantedBytes, mostBytes);
        DirectMemory memory =
                new DirectMemory(requestBytes / 2, requestBytes - requestBytes / 2, availableBytes / RESPONSE_PART);
        log.info(
                "direct memory: totalMiB={} requestsMiB={} responsesMiB={}",
                availableBytes / BYTES_PER_MIB,
                requestBytes / BYTES_PER_MIB,
                memory.responseBytes / BYTES_PER_MIB);
        long servedBytes = SharedMemory.largestRequestBytes(memory.largeRequestBytes);
        if (servedBytes < largestRequestBytes) {
            log.warn(
                    "requests above {} bytes are refused, although socket.request.max.bytes={}: half of the memory for"
                            + " requests (total.in.flight.max.bytes) must hold the largest",
                    servedBytes,
                    largestRequestBytes);
        }
        return memory;
    }
}
