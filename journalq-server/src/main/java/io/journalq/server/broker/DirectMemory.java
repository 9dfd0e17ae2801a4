package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.network.SharedMemory;
import io.netty.util.internal.PlatformDependent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The division of the direct memory that the process may use. At most half of it is for requests, and a quarter for
 * responses that wait for their clients. The rest is for memory that is not counted: unused parts of pooled chunks, one
 * response of each loop beyond its share, reads, decompression and write-ahead buffers.
 *
 * @param smallRequestBytes for requests of up to 1 MiB, divided among the loops
 * @param largeRequestBytes for larger requests, shared by the loops
 * @param responseBytes for responses
 */
record DirectMemory(long smallRequestBytes, long largeRequestBytes, long responseBytes) {
    private static final Logger log = LoggerFactory.getLogger(DirectMemory.class);

    private static final int REQUEST_PART = 2;
    private static final int RESPONSE_PART = 4;
    private static final int BYTES_PER_MIB = 1024 * 1024;

    /** Divides the direct memory of this process, and logs the result. */
    static DirectMemory of(BrokerConfig config) {
        return of(
                PlatformDependent.maxDirectMemory(),
                config.get(BrokerSettings.TOTAL_IN_FLIGHT_MAX_BYTES),
                config.get(BrokerSettings.SOCKET_REQUEST_MAX_BYTES));
    }

    /**
     * Divides {@code availableBytes}.
     *
     * @param wantedBytes for requests; 0 for the maximum
     * @param largestRequestBytes the largest request that the settings allow
     */
    static DirectMemory of(long availableBytes, long wantedBytes, long largestRequestBytes) {
        long mostBytes = Math.max(1, availableBytes / REQUEST_PART);
        if (wantedBytes > mostBytes) {
            log.warn(
                    "total.in.flight.max.bytes={} is more than half of the direct memory of this process,"
                            + " {} bytes: using {} bytes; give the process more with JOURNALQ_HEAP or"
                            + " -XX:MaxDirectMemorySize",
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
