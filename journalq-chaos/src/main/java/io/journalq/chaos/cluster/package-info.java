/**
 * Fault injection into a cluster of broker processes. {@link io.journalq.chaos.cluster.ClusterRun} runs cycles: each has
 * a topic of its own, keeps it under load, injects faults one after the other, and then reads the topic back from each
 * replica. Findings name the promise that was broken.
 */
package io.journalq.chaos.cluster;
