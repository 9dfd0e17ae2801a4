/**
 * Resource usage of processes and of the machine from {@code /proc}, latencies as histograms, and statistics of repeated
 * measurements. Input: process ids. Output: samples. Must not know brokers or clients.
 */
package io.journalq.bench.measure;
