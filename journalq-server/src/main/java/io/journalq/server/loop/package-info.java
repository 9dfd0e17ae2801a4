/**
 * Event loops, and the end of each of their iterations: journals are written, work is handed over to other loops, and
 * connections are flushed. Each happens at most once in an iteration, for any number of requests.
 *
 * <p>In: work that other parts register during an iteration. Out: calls, in phases. Knows neither requests nor
 * partitions.
 */
package io.journalq.server.loop;
