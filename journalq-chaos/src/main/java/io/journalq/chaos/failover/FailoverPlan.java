package io.journalq.chaos.failover;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What is measured. Immutable.
 *
 * @param brokers number of brokers, at least 3
 * @param mode delivery mode of the topic
 * @param rounds number of times that each fault happens
 * @param perSecond messages per second of all clients together
 * @param partitions of the topic, each with three replicas
 * @param idlePartitions of another topic, to which nobody sends; 0 if there is none
 * @param faults to measure
 * @param programs commands of clients in other languages, by name
 * @param directory for {@link #cluster} and {@link #slowRounds}
 */
public record FailoverPlan(
        int brokers,
        String mode,
        int rounds,
        int perSecond,
        int partitions,
        int idlePartitions,
        List<FailoverFault> faults,
        Map<String, List<String>> programs,
        Path directory) {
    public FailoverPlan {
        faults = List.copyOf(faults);
        programs = Map.copyOf(programs);
    }

    /** The data and the logs of the brokers. */
    public Path cluster() {
        return directory.resolve("cluster");
    }

    /** What the brokers have logged in rounds that took longer than their goal, in a directory for each of them. */
    public Path slowRounds() {
        return directory.resolve("slow-rounds");
    }
}
