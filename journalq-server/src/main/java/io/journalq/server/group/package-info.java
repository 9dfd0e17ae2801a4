/**
 * Consumer groups and their committed offsets, without threads, clocks or files. Requests come in as calls of
 * {@code on…(…, nowMs)}. Records go out through an outbox, responses through replies. One
 * {@link io.journalq.server.group.GroupMachine} holds all groups of one partition of the group topic; each type of
 * group has its own file.
 *
 * <p>Must not know: loops, journals, connections, metadata images.
 */
package io.journalq.server.group;
