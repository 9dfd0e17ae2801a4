/**
 * Micro-benchmarks of parts that stand on the hot path. In: nothing but the part measured. Out: JMH's own results. Must
 * not know: sockets, a running broker.
 */
package io.journalq.bench.jmh;
