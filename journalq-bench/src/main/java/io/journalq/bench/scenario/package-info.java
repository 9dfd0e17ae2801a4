/**
 * The scenarios, one command each: its options, its run, its table and its charts. A command uses {@link
 * io.journalq.bench.peer} for brokers, {@link io.journalq.bench.traffic} for messages and {@link io.journalq.bench.output}
 * for results. Input: options. Output: results and files. Must not know one broker from another.
 */
package io.journalq.bench.scenario;
