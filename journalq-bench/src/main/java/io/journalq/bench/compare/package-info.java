/**
 * Brokers side by side: which settings each is best at, and runs in turn. Knows brokers and clients only by their
 * drivers, and nothing of command lines.
 */
package io.journalq.bench.compare;
