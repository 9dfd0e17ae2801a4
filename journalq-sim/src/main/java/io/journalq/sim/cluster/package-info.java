/**
 * Clients of a simulated cluster. They learn from Metadata which broker leads a partition and which one is the
 * controller, and lose connections. Among them are jobs that copy records in transactions, with the positions in their
 * inputs.
 *
 * <p>In: a world of brokers. Out: what was acknowledged and read. One thread.
 */
package io.journalq.sim.cluster;
