/**
 * The produce benchmark with its four cases: the workload, the threads that send and read, the run, and the verification.
 * Input: drivers of a broker and a client. Output: a {@link io.journalq.bench.produce.ProduceResult}. Must not know one
 * broker or client from another.
 */
package io.journalq.bench.produce;
