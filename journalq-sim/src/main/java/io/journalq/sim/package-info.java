/**
 * The simulator: a broker and its clients on one thread, with a simulated clock and disk. A seed determines everything.
 * {@link io.journalq.sim.Simulation} runs one seed, {@link io.journalq.sim.SimMain} is the command line.
 */
package io.journalq.sim;
