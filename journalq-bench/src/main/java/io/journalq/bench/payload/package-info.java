/**
 * What the benchmarks send: messages made before the clock starts. Each can be recognised and checked when it
 * is read back. Knows nothing of brokers, clients or time.
 */
package io.journalq.bench.payload;
