package io.journalq.server.gateway;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * What the gateway shows of the broker itself, and no API of the Kafka protocol has. Any thread. The stages may complete
 * on any thread.
 */
public interface BrokerView {
    /** The node id of this broker. */
    int nodeId();

    /** The release of the broker. */
    String version();

    /** The counters of this broker now. Reads memory only. */
    Counters counters();

    /** The health of this broker now. */
    CompletionStage<BrokerHealth> health();

    /**
     * How long the first record at or after each position has been in its partition, by its timestamp.
     *
     * @return for each position, in the same order, the age in ms; 0 if there is no such record; {@link #UNKNOWN} if this
     *     broker does not know
     */
    CompletionStage<List<Long>> ages(List<Position> positions);

    /** What is not known. */
    long UNKNOWN = -1L;

    /**
     * Counters since the start, and values of now.
     *
     * @param oldestUnsyncedMs as in {@link BrokerHealth}
     */
    record Counters(
            long appendedRecords,
            long appendedBytes,
            long fetchedBytes,
            long requests,
            int connections,
            long heapUsedBytes,
            long oldestUnsyncedMs) {}

    /** An offset of a partition. */
    record Position(String topic, int partition, long offset) {}

    /**
     * The health of a broker.
     *
     * @param status {@code up}, {@code degraded} or {@code down}
     * @param startedMs when the process started, in ms since 1970
     * @param heapUsedBytes heap in use, including garbage
     * @param directBytes direct memory held for buffers
     * @param oldestUnsyncedMs time since the oldest record that is not synced was written, in ms; 0 if all are synced
     * @param offlinePartitions partitions whose files cannot be used
     * @param offlinePartitionNames names of at most 100 of them
     * @param hangingTransactions transactions that are open for longer than {@code transaction.max.timeout.ms}
     * @param syncs durations of fsync calls
     */
    record BrokerHealth(
            String status,
            long startedMs,
            String javaVersion,
            long heapUsedBytes,
            long heapMaxBytes,
            long directBytes,
            int connections,
            int gatewayConnections,
            int gatewayStreams,
            long oldestUnsyncedMs,
            int offlinePartitions,
            List<String> offlinePartitionNames,
            long hangingTransactions,
            List<LoopHealth> loops,
            Histogram syncs,
            List<Disk> disks) {}

    /**
     * An event loop.
     *
     * @param iterations durations of its iterations, during which its other connections wait
     */
    record LoopHealth(int index, long appendedRecords, long appendedBytes, long fetchedBytes, Histogram iterations) {}

    /** Counts of durations since the start. */
    record Histogram(List<Bucket> buckets) {
        /** Number of durations. */
        public long count() {
            return buckets.stream().mapToLong(Bucket::count).sum();
        }

        /**
         * An upper bound of the durations, except of the longest ones.
         *
         * @param fraction which part of the durations is at most this long, from 0 to 1
         * @return the bound in microseconds; 0 if there are no durations; {@link #UNKNOWN} if it is above all bounds
         */
        public long quantileMicros(double fraction) {
            long wanted = (long) Math.ceil(fraction * count());
            long seen = 0;
            for (Bucket bucket : buckets) {
                seen += bucket.count();
                if (seen >= wanted && seen > 0) {
                    return bucket.upToMicros();
                }
            }
            return 0;
        }
    }

    /**
     * A part of a histogram.
     *
     * @param upToMicros its longest duration in microseconds; {@link #UNKNOWN} for the last bucket, which has none
     */
    record Bucket(long upToMicros, long count) {}

    /**
     * A data directory.
     *
     * @param totalBytes size of its file system; {@link #UNKNOWN} if it cannot be read
     * @param usableBytes free space for the broker; {@link #UNKNOWN} if it cannot be read
     * @param journalBytes size of the partitions in it
     * @param problem why it is offline; null if it is online
     */
    record Disk(
            String directory, long totalBytes, long usableBytes, long journalBytes, int partitions, String problem) {}
}
