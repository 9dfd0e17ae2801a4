/**
 * The simulator: brokers and their clients on one thread, with simulated clocks, disks and networks. A seed determines
 * everything. {@link io.journalq.sim.Simulation} runs one seed of one broker, {@link io.journalq.sim.ClusterSimulation}
 * one of several, {@link io.journalq.sim.SimMain} is the command line.
 */
package io.journalq.sim;
