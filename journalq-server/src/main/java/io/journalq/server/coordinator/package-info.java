/**
 * The common parts of group and transaction coordinators, without threads, clocks, files or sockets.
 *
 * <p>A coordinator is a machine ({@link io.journalq.server.coordinator.CoordinatorMachine}) over the records of one
 * partition of an internal topic. Requests come in as calls of {@code on…(…, nowMs)}. Records go out through an
 * {@link io.journalq.server.coordinator.Outbox} and responses through a {@link io.journalq.server.coordinator.Reply}.
 * State changes only in {@code replay}, in live operation and after a restart. Its host owns the thread, the journal
 * and the clock.
 *
 * <p>Must not know: loops, journals, stores, connections.
 */
package io.journalq.server.coordinator;
