/**
 * The messages that benchmarks send. They are generated before the clock starts, and each can be recognised and verified
 * when it is read back. Input: kind and size. Output: bytes. Must not know brokers, clients or clocks.
 */
package io.journalq.bench.payload;
