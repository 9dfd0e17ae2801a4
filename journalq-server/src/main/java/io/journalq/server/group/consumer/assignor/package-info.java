/** Who of a group's members gets which partitions: assignments as values, and pure functions that compute them. */
package io.journalq.server.group.consumer.assignor;
