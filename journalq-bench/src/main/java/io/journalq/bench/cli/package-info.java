/**
 * The program and the commands of the produce cases. Input: a command line. Output: a table, CSV or JSON, and an exit code:
 * 0 on success, 1 on failure, 2 if the command line is wrong. Must not know how a broker or a client works.
 */
package io.journalq.bench.cli;
