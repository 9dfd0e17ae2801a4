/** Assigns partitions to the members of a group: assignments as values, and pure functions that compute them. */
package io.journalq.server.group.consumer.assignor;
