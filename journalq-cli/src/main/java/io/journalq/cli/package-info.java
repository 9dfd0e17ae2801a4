/**
 * The command line: the programs {@code bin/journalq} and {@code bin/journalq-server}.
 *
 * <p>Input is the words of a command line, lines on standard input and responses of {@code journalq-client}. Output is
 * tables or JSON on standard output, progress and one-line errors on standard error, and an exit code: 0 done, 1 failed, 2
 * wrong usage.
 *
 * <p>The commands of {@code bin/journalq} use only the client, so they work against any broker that speaks the protocol.
 * Two packages know the server: {@code journal} reads the files of a stopped broker, and {@code local}, the commands of
 * {@code bin/journalq-server}, reads the configuration and finds a broker's process by its data directory, log and health
 * page.
 *
 * <p>This package holds the two programs. Each package below it holds the commands of one subject; {@code shell} is what all
 * of them share.
 */
package io.journalq.cli;
