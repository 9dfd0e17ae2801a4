/**
 * What group and transaction coordinators have in common, without threads, clocks, files or sockets.
 *
 * <p>A coordinator is a machine ({@link io.journalq.server.coordinator.CoordinatorMachine}) over the records of one
 * partition of an internal topic. In come requests as calls of {@code on…(…, nowMs)}; out go records through an {@link
 * io.journalq.server.coordinator.Outbox} and answers through a {@link io.journalq.server.coordinator.Reply}. State changes
 * in {@code replay} only, live as after a restart. Its host owns the thread, the journal and the clock.
 *
 * <p>Must not know: loops, journals, stores, connections.
 */
package io.journalq.server.coordinator;
