/**
 * The comparison of two brokers: the best settings of each, and alternating runs. Input: drivers and a workload. Output:
 * results and presets. Must not know command lines, or one broker from another.
 */
package io.journalq.bench.compare;
