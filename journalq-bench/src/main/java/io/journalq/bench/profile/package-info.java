/**
 * Flame graphs of what a program did, from the flight recordings of its processes. In: recordings. Out: one page each that
 * needs nothing beside it. It must not know what was run.
 */
package io.journalq.bench.profile;
