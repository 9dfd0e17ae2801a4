/**
 * Clients of a simulated broker, and what they know of it: who sent what, what was acknowledged, what was seen.
 *
 * <p>In: a running broker, from one of its lives to the next. Out: requests, and a history that the invariants judge. One
 * thread.
 */
package io.journalq.sim.workload;
