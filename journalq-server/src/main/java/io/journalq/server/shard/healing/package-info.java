/**
 * Replaces damaged segments of replicas with the batches of other replicas, on threads that may block.
 *
 * <p>In: offsets at which reads, other brokers or the scrub have met damage. Out: healed journals, requests to other
 * brokers, and statistics. It must not know how segments are replaced.
 */
package io.journalq.server.shard.healing;
