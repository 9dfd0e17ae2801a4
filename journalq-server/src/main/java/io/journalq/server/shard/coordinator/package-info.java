/**
 * Hosts the machines of coordinators, each on the loop of the internal topic's partition that holds its records. In
 * come steps for a key, from handlers on any thread. Out go records into that partition, and responses once the records
 * are safe. The package decides nothing and does not know what its machines coordinate; its sub-packages do.
 */
package io.journalq.server.shard.coordinator;
