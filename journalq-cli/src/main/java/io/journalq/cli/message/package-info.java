/**
 * Commands that write and read messages: each line of standard input becomes a record, each record a line of standard
 * output.
 */
package io.journalq.cli.message;
