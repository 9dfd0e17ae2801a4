/**
 * What a run costs and how long things take: processes and the machine as seen through {@code /proc}, latencies as
 * histograms. In comes nothing but process ids; it must not know brokers or clients.
 */
package io.journalq.bench.measure;
