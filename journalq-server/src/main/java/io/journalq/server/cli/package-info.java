/**
 * The command line: what {@code bin/journalq} and {@code bin/journalq-server} run.
 *
 * <p>In come the words of a command line, lines on standard input and answers of {@code journalq-client}; out go tables
 * or JSON on standard output, progress and one-line errors on standard error, and an exit code: 0 done, 1 failed, 2 wrong
 * usage. The commands of {@code bin/journalq} know the client alone: they work against any broker that speaks the
 * protocol; only {@code journal} reads the files of a broker that does not run. Those of {@code bin/journalq-server} know the configuration, and a broker only as a process: who holds its
 * data folder, its log and its health page. Nothing in the server may know this package.
 *
 * <p>This package has the two programs; a package below it has the commands of one subject, and {@code shell} what they
 * all share.
 */
package io.journalq.server.cli;
