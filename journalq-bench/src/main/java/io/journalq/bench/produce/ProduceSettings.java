package io.journalq.bench.produce;

import java.time.Duration;
import java.util.Map;

/**
 * One run of one case.
 *
 * @param threads callers; each sends and waits in the synchronous cases, builds batches in the others
 * @param virtualThreads whether they are virtual; needs a JDK of 21 or newer
 * @param producers producer instances that the threads share
 * @param batchSize messages of a batch in the asynchronous cases
 * @param inFlightBatches most batches of one thread that are not answered yet
 * @param consumers how many share the partitions in case 4
 * @param warmup before anything is counted
 * @param clientSettings the client library's own, by its own names
 */
public record ProduceSettings(
        ProduceCase produceCase,
        String topic,
        int partitions,
        int messageSizeBytes,
        String payload,
        int threads,
        boolean virtualThreads,
        int producers,
        int batchSize,
        int inFlightBatches,
        int consumers,
        Duration warmup,
        Duration duration,
        Map<String, String> clientSettings) {

    /** The same for another case, with other callers. */
    public ProduceSettings with(
            ProduceCase otherCase, int otherThreads, boolean virtual, int otherProducers, Map<String, String> client) {
        return new ProduceSettings(
                otherCase,
                topic,
                partitions,
                messageSizeBytes,
                payload,
                otherThreads,
                virtual,
                otherProducers,
                batchSize,
                inFlightBatches,
                consumers,
                warmup,
                duration,
                client);
    }
}
