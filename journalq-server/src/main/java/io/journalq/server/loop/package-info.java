/**
 * Event loops and what happens at the end of each of their iterations: journals are written, answers handed over to
 * other loops, connections flushed, each once however many requests an iteration has read.
 *
 * <p>In: work that others register during an iteration. Out: calls, in phases. Knows neither requests nor partitions.
 */
package io.journalq.server.loop;
