package io.journalq.bench.produce;

import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;

/**
 * What a run measured.
 *
 * @param broker its name and version
 * @param client its name and version
 * @param qps acknowledged messages a second, over the measured stretch
 * @param consumedPerSecond messages that all consumers together read a second, over the same stretch
 * @param errors messages that were refused or lost their answer
 * @param acknowledged in the whole run, warm-up included
 * @param inJournal by how much the partitions grew in the whole run
 * @param verified messages read back and compared byte by byte
 * @param problem why the run cannot be trusted; null when everything checked out
 * @param bytesPerMessage on disk; negative when the broker cannot tell
 * @param latency of a call, or from handing a batch over to its answer
 * @param corrected the same, corrected for coordinated omission; null where it does not apply
 */
public record ProduceResult(
        ProduceSettings settings,
        String broker,
        String client,
        double qps,
        double consumedPerSecond,
        long errors,
        long acknowledged,
        long inJournal,
        long verified,
        String problem,
        double bytesPerMessage,
        Latency latency,
        Latency corrected,
        ResourceUse use) {}
