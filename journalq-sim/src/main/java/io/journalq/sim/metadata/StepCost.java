package io.journalq.sim.metadata;

/**
 * What one step of the scenario has cost.
 *
 * @param name of the step
 * @param batches number of batches that were committed
 * @param changes number of partitions that were created or changed
 * @param logBytes size of the batches. Each broker receives them
 * @param largestBatchBytes size of the largest batch
 * @param controllerNanos time for deciding, encoding, decoding and applying on the controller
 * @param longestNanos the longest part of it without a pause: no other operation begins meanwhile
 * @param allocatedBytes allocated by the controller meanwhile
 * @param observerNanos time for decoding and applying on another broker, the mean of all that replay
 */
public record StepCost(
        String name,
        int batches,
        int changes,
        long logBytes,
        int largestBatchBytes,
        long controllerNanos,
        long longestNanos,
        long allocatedBytes,
        long observerNanos) {}
