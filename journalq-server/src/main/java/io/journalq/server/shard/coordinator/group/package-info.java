/**
 * The group coordinators of the broker: gives the group machines of {@code group} their partitions of {@code
 * __consumer_offsets}, and informs them of what happens to topics and partitions. In come metadata images and the ends of
 * recovered partitions; out go steps for the machines. The machines themselves know nothing of this package.
 */
package io.journalq.server.shard.coordinator.group;
