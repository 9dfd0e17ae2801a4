/**
 * What scenarios have in common on the command line, and the brokers that come of it: who is measured, where they are, how
 * they are set up, whose turn it is. In: options. Out: drivers. It must not know what is measured.
 */
package io.journalq.bench.option;
