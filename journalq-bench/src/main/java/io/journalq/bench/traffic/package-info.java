/**
 * Stamped messages from publishers to subscribers through any broker, and their outcome: counts, losses, repetitions and
 * end-to-end latency. Input: a {@link io.journalq.bench.peer.PubSubDriver} and settings. Output: counts and histograms. Must
 * not know which scenario it serves.
 */
package io.journalq.bench.traffic;
