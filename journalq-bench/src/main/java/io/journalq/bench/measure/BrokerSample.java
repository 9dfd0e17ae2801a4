package io.journalq.bench.measure;

/**
 * A broker at one moment. What cannot be told is -1.
 *
 * @param cpuPercent of one core, since the sample before
 * @param residentBytes memory that the process holds
 * @param heapBytes used of the Java heap, as its metrics tell
 * @param directBytes held by network buffers outside of the heap, as its metrics tell
 * @param openFiles handles, sockets included
 * @param diskBytes that its data takes on the disk
 */
public record BrokerSample(
        double cpuPercent,
        long residentBytes,
        long heapBytes,
        long directBytes,
        long openFiles,
        long threads,
        long diskBytes) {}
