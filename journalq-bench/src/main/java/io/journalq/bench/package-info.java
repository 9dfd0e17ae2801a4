/**
 * The benchmark program: commands, options, and how they end.
 *
 * <p>In come command lines; out go runs of {@link io.journalq.bench.load} against the brokers and clients of {@link
 * io.journalq.bench.driver}, reported by {@link io.journalq.bench.report}. It must not know how any broker or client
 * works.
 */
package io.journalq.bench;
