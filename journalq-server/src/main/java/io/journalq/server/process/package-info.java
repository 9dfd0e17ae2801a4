/**
 * Brokers in processes of their own on this machine, for tests and for programs that measure brokers or inject faults.
 *
 * <p>In: settings, and signals to send. Out: processes, their logs, and whether they serve. Knows nothing of clients.
 */
package io.journalq.server.process;
