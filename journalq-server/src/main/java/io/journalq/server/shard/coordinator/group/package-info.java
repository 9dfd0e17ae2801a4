/**
 * The group coordinators of the broker. Assigns the group machines of {@code group} to the partitions of
 * {@code __consumer_offsets}, and informs them of changes of topics and partitions. In come metadata images and the
 * ends of recovered partitions; out go steps for the machines. The machines do not know this package.
 */
package io.journalq.server.shard.coordinator.group;
