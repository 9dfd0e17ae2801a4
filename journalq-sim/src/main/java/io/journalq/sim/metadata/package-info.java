/**
 * The metadata of a large cluster: the deciders, records, placement, elections and images of the broker. The metadata log
 * and the brokers around them are simulated. In: a plan with a seed. Out: what it cost, and the promises that were broken.
 */
package io.journalq.sim.metadata;
