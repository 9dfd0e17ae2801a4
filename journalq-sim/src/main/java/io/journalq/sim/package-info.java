/**
 * The simulator: a whole broker and its clients in one thread, on simulated time and disks, all from one seed. {@link
 * io.journalq.sim.Simulation} runs one seed, {@link io.journalq.sim.SimMain} is the command line.
 */
package io.journalq.sim;
