/**
 * The state of a partition's producers: which of their batches the partition has, and which of their transactions are
 * open. Pure machines: inputs are calls that carry the time, and state changes only in {@code replay}, so that live
 * operation and recovery run the same code.
 *
 * <p>Knows no threads, clocks, sockets or files.
 */
package io.journalq.server.producerstate;
