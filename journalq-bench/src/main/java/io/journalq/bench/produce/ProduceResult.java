package io.journalq.bench.produce;

import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;

/**
 * The result of a run.
 *
 * @param broker name and version of the broker
 * @param client name and version of the client
 * @param errors messages that were refused or received no response
 */
public record ProduceResult(
        ProduceSettings settings, String broker, String client, Measured measured, long errors, Checks checks) {

    /** The reason why the result is invalid; null if all checks passed. */
    public String problem() {
        return checks.problem();
    }

    /**
     * The measured interval.
     *
     * @param qps acknowledged messages per second
     * @param consumedPerSecond messages per second that all consumers together read
     * @param latency latency without coordinated omission, see {@link Latency}
     * @param serviceTime time from the call that sends a message or a batch to its response
     */
    public record Measured(
            double qps, double consumedPerSecond, Latency latency, Latency serviceTime, ResourceUse use) {}

    /**
     * The outcome of counting and reading back the messages.
     *
     * @param acknowledged acknowledged messages of the whole run, including the warm-up
     * @param inJournal growth of the partitions during the whole run, in messages
     * @param verified messages that were read back and compared byte by byte
     * @param problem the first problem; null if there was none
     * @param bytesPerMessage size on disk; negative if the broker does not report it
     */
    public record Checks(long acknowledged, long inJournal, long verified, String problem, double bytesPerMessage) {}
}
