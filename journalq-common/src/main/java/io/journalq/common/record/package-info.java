/**
 * Record batches (magic 2): building, reading, validating and compressing.
 *
 * <p>Input: keys, values and headers of a producer, or bytes from a socket or file. Output: complete batches with CRC,
 * records as views of the bytes in which they arrived, and validation results with an error code. Bytes are never
 * trusted: readers throw only {@link io.journalq.common.record.InvalidBatchException}, and the validator returns a
 * result.
 *
 * <p>Must not know: sockets, files, requests, topics, threads. Classes that keep state between calls belong to one
 * thread; static methods can be called by any thread.
 */
package io.journalq.common.record;
