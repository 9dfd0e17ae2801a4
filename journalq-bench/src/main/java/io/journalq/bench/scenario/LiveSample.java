package io.journalq.bench.scenario;

import io.journalq.bench.measure.BrokerSampler.BrokerSample;
import io.journalq.bench.measure.Latency;

/**
 * An interval of a run, and the broker at its end, which is the sum of its processes.
 *
 * @param atSeconds end of the interval, since the start of the run
 */
record LiveSample(
        double atSeconds, double publishedPerSecond, double receivedPerSecond, Latency endToEnd, BrokerSample broker) {

    static final String HEADER = "seconds,published_per_s,received_per_s,end_to_end_p50_us,end_to_end_p99_us,"
            + "end_to_end_max_us,cpu_percent,rss_bytes,heap_bytes,direct_bytes,open_files,threads,disk_bytes\n";

    String csv() {
        return "%.1f,%.0f,%.0f,%.1f,%.1f,%.1f,%.1f,%d,%d,%d,%d,%d,%d%n"
                .formatted(
                        atSeconds,
                        publishedPerSecond,
                        receivedPerSecond,
                        endToEnd.p50Us(),
                        endToEnd.p99Us(),
                        endToEnd.maxUs(),
                        broker.cpuPercent(),
                        broker.residentBytes(),
                        broker.heapBytes(),
                        broker.directBytes(),
                        broker.openFiles(),
                        broker.threads(),
                        broker.diskBytes());
    }
}
