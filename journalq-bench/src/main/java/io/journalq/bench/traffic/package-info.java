/**
 * Stamped messages from publishers to subscribers through any broker, and what became of them: counts, losses,
 * repetitions, latency from end to end. In: a {@link io.journalq.bench.peer.PubSubDriver} and how much to send. It must not know
 * which scenario it serves.
 */
package io.journalq.bench.traffic;
