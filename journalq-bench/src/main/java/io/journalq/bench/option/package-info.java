/**
 * Options that several commands share, the types of option values, and the brokers that the options describe: which are
 * measured, where they run, how they are configured, and whose turn it is. Input: options. Output: drivers. Must not know
 * what is measured.
 */
package io.journalq.bench.option;
