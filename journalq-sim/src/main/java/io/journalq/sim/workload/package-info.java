/**
 * Clients of a simulated broker, and what they know: who sent what, what was acknowledged, and what was read.
 *
 * <p>In: a running broker, in each of its lives. Out: requests, and a history that the checks use. One thread.
 */
package io.journalq.sim.workload;
