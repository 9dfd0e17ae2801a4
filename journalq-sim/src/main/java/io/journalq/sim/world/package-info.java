/**
 * A broker in one thread, on simulated time and files: the scheduler and the loops, pools and clocks that it drives, and
 * the broker that runs on them. Nothing is copied from the production code: what runs is its {@code BrokerCore}.
 *
 * <p>In: a seed. Out: requests' answers, violations. One thread.
 */
package io.journalq.sim.world;
