/**
 * What all commands share: the streams of a run, output formats, error reporting, and the connection to a broker. Knows
 * no command.
 */
package io.journalq.cli.shell;
