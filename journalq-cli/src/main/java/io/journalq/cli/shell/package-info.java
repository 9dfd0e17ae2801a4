/**
 * What every command shares: the streams of a run, the forms in which results are shown, how failures are told, and the
 * broker that is talked to. Knows no command.
 */
package io.journalq.cli.shell;
