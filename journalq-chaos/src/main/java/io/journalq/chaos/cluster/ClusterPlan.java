package io.journalq.chaos.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What a run does. Immutable.
 *
 * @param brokers number of brokers, at least 3
 * @param mode delivery mode of the topics
 * @param cycles number of cycles
 * @param faultsPerCycle number of faults in each cycle
 * @param limit time after which no cycle begins; null for none
 * @param seed of the first cycle; the next one has the next seed
 * @param faults faults to choose from
 * @param pause of each producer between two messages
 * @param python runs a producer of librdkafka; null for none
 * @param directory for the data and the logs of the brokers
 */
public record ClusterPlan(
        int brokers,
        String mode,
        int cycles,
        int faultsPerCycle,
        Duration limit,
        long seed,
        List<ClusterFault> faults,
        Duration pause,
        Path python,
        Path directory) {
    public ClusterPlan {
        faults = List.copyOf(faults);
    }

    /** The command that runs the faults of one cycle again, at the same times. Clients and brokers are not repeated. */
    String replay(long cycleSeed) {
        return "bin/journalq-chaos cluster --brokers " + brokers + " --mode " + mode + " --cycles 1 --faults-per-cycle "
                + faultsPerCycle + " --seed " + cycleSeed + " --pause " + pause.toMillis() + "ms --faults "
                + faults.stream().map(ClusterFault::toString).collect(Collectors.joining(","))
                + (python == null ? "" : " --librdkafka " + python);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "seed %d, %d brokers, mode %s, %d cycles of %d faults, faults %s, directory %s",
                seed,
                brokers,
                mode,
                cycles,
                faultsPerCycle,
                faults,
                directory);
    }
}
