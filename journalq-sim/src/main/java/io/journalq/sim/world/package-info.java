/**
 * Brokers on one thread, with simulated clocks and files: the scheduler, the event loops, pools and clocks that they
 * run, and the brokers on these. A broker is the production class {@code BrokerCore}. Several of them form a
 * {@code SimWorld}, with a network and a metadata quorum.
 *
 * <p>In: a seed. Out: responses, violations. One thread.
 */
package io.journalq.sim.world;
