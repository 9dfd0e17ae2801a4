package io.journalq.bench.produce;

import java.time.Duration;

/**
 * The settings of a run of one case.
 *
 * @param messagesPerSecond rate at which messages are due over all callers; 0 if each caller sends its next message as soon
 *     as possible
 * @param warmup duration of the warm-up
 * @param duration duration of the measured interval
 */
public record ProduceSettings(
        ProduceCase produceCase,
        Workload workload,
        Tuning tuning,
        long messagesPerSecond,
        Duration warmup,
        Duration duration) {

    /**
     * The work, which is the same for every broker and client.
     *
     * @param batchSize messages in a batch in the asynchronous cases
     * @param consumers number of consumers of case 4, in all groups together
     * @param groups number of groups that the consumers form; each group reads everything. 0 if each consumer has its own
     *     partitions
     */
    public record Workload(
            String topic,
            int partitions,
            int messageSizeBytes,
            String payload,
            int batchSize,
            int consumers,
            int groups) {

        /** The same work on another topic. */
        public Workload onTopic(String otherTopic) {
            return new Workload(otherTopic, partitions, messageSizeBytes, payload, batchSize, consumers, groups);
        }
    }
}
