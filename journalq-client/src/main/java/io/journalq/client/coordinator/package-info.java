/**
 * Requests to the broker that coordinates a group or a transactional id: which broker that is, and asking again when it
 * moved, restarts or is still loading. In: a question with its deadline. Out: the answer, or why there is none. Must not
 * know what the questions are about.
 */
package io.journalq.client.coordinator;
