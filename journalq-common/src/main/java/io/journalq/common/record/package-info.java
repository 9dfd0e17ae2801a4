/**
 * Record batches (magic 2): building, reading, checking and compressing them.
 *
 * <p>In: keys, values and headers from a producer; bytes from a socket or a file. Out: complete batches with CRC,
 * records as views of the bytes they arrived in, and verdicts with an error code. Bytes are never trusted: readers fail
 * with {@link io.journalq.common.record.CorruptBatchException} only, the validator with a value.
 *
 * <p>Must not know: sockets, files, requests, topics, threads. Classes that keep state between calls belong to one
 * thread; the static parts are safe from any.
 */
package io.journalq.common.record;
