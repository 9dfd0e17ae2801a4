package io.journalq.bench.produce;

/**
 * What is to be done, the same for every broker and client.
 *
 * @param batchSize messages of a batch in the asynchronous cases
 * @param consumers how many share the partitions in case 4
 */
public record Workload(
        String topic, int partitions, int messageSizeBytes, String payload, int batchSize, int consumers) {

    /** The same on another topic. */
    public Workload onTopic(String otherTopic) {
        return new Workload(otherTopic, partitions, messageSizeBytes, payload, batchSize, consumers);
    }
}
