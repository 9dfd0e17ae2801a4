/**
 * Runs the machines of coordinators: each on the loop of the internal topic's partition that holds its records. In come
 * steps for a key, from handlers on any thread; out go records into that partition, and responses once they are safe.
 * Decides nothing, and does not know what its machines coordinate: the packages below it do.
 */
package io.journalq.server.shard.coordinator;
