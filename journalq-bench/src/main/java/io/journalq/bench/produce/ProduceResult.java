package io.journalq.bench.produce;

import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;

/**
 * What a run gave.
 *
 * @param broker its name and version
 * @param client its name and version
 * @param errors messages that were refused or lost their answer
 */
public record ProduceResult(
        ProduceSettings settings, String broker, String client, Measured measured, long errors, Checks checks) {

    /** Why the run cannot be trusted; null when everything checked out. */
    public String problem() {
        return checks.problem();
    }

    /**
     * The measured stretch.
     *
     * @param qps acknowledged messages a second
     * @param consumedPerSecond messages that all consumers together read a second
     * @param latency without coordinated omission, see {@link Latency}
     * @param serviceTime from the call, or the handing over of a batch, to its answer
     */
    public record Measured(
            double qps, double consumedPerSecond, Latency latency, Latency serviceTime, ResourceUse use) {}

    /**
     * What was found when the messages were counted and read back.
     *
     * @param acknowledged in the whole run, warm-up included
     * @param inJournal by how much the partitions grew in the whole run
     * @param verified messages read back and compared byte by byte
     * @param problem the first thing that was wrong; null when nothing was
     * @param bytesPerMessage on disk; negative when the broker cannot tell
     */
    public record Checks(long acknowledged, long inJournal, long verified, String problem, double bytesPerMessage) {}
}
