package io.journalq.sim.metadata;

import java.util.List;

/**
 * The result of a simulation.
 *
 * @param hash of everything that was committed
 * @param topics number of topics that were created
 * @param steps what each step has cost
 * @param snapshot what a snapshot costs
 * @param spreads how replicas and leaders were spread, by step
 * @param violations broken promises; empty if there are none
 */
public record MetadataResult(
        long hash,
        int topics,
        List<StepCost> steps,
        SnapshotCost snapshot,
        List<Spread> spreads,
        List<String> violations) {
    /**
     * What a snapshot of all metadata costs.
     *
     * @param bytes its size
     * @param writeNanos time for writing it
     * @param restoreNanos time for reading it and restoring the image
     * @param imageBytes heap of the restored image
     */
    public record SnapshotCost(long bytes, long writeNanos, long restoreNanos, long imageBytes) {}

    /** How replicas and leaders are spread over the brokers that are not fenced. */
    public record Spread(String step, int fewestReplicas, int mostReplicas, int fewestLeaders, int mostLeaders) {}
}
