/**
 * Flame graphs of flight recordings. Input: recordings of processes. Output: a page for each, which needs no other files.
 * Must not know what the processes did.
 */
package io.journalq.bench.profile;
