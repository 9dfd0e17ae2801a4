/**
 * Runs the machines of group and transaction coordinators: each on the loop of the internal topic's partition that holds
 * its records. In come steps for a key, from handlers on any thread; out go records into that partition and answers once
 * they are safe. Decides nothing: what a machine is about, this package does not know.
 */
package io.journalq.server.shard.coordinator;
