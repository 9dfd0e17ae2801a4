/**
 * Commands that write and read messages: lines of standard input become records, records become lines of standard output.
 */
package io.journalq.cli.message;
