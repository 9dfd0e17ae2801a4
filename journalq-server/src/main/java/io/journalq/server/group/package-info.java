/**
 * Consumer groups and their committed offsets, without threads, clocks or files. In come requests as calls of {@code
 * on…(…, nowMs)}, out go records through an outbox and answers through replies. One {@link
 * io.journalq.server.group.GroupMachine} holds all groups of one partition of the groups' topic; each kind of group has a
 * file of its own.
 *
 * <p>Must not know: loops, journals, connections, metadata images.
 */
package io.journalq.server.group;
