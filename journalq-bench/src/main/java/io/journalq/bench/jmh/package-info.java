/**
 * Micro-benchmarks of parts of the hot path. Input: the part that is measured. Output: JMH's results. Must not know sockets
 * or a running broker.
 */
package io.journalq.bench.jmh;
