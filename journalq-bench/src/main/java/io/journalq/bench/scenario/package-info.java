/**
 * The scenarios of the suite, one command each: what it takes from the command line, the run, its table and its charts. A
 * command stands on {@link io.journalq.bench.peer} for brokers, {@link io.journalq.bench.traffic} for messages and {@link
 * io.journalq.bench.output} for results; it must not know one broker from another.
 */
package io.journalq.bench.scenario;
