package io.journalq.bench.produce;

import java.time.Duration;

/**
 * One run of one case.
 *
 * @param messagesPerSecond the pace at which messages are due, over all callers; 0 when each caller sends its next as
 *     soon as it may
 * @param warmup before anything is counted
 */
public record ProduceSettings(
        ProduceCase produceCase,
        Workload workload,
        Tuning tuning,
        long messagesPerSecond,
        Duration warmup,
        Duration duration) {

    /**
     * What is to be done, the same for every broker and client.
     *
     * @param batchSize messages of a batch in the asynchronous cases
     * @param consumers how many read in case 4, in all groups together
     * @param groups number of groups that they form, and each group reads everything; 0 if each consumer has partitions of its own
     */
    public record Workload(
            String topic, int partitions, int messageSizeBytes, String payload, int batchSize, int consumers, int groups) {

        /** The same on another topic. */
        public Workload onTopic(String otherTopic) {
            return new Workload(otherTopic, partitions, messageSizeBytes, payload, batchSize, consumers, groups);
        }
    }
}
