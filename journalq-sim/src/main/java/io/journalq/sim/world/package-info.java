/**
 * A broker on one thread, with a simulated clock and files: the scheduler, the event loops, pools and clocks that it
 * runs, and the broker on these. The broker is the production class {@code BrokerCore}.
 *
 * <p>In: a seed. Out: responses, violations. One thread.
 */
package io.journalq.sim.world;
