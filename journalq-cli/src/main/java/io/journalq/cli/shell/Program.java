package io.journalq.cli.shell;

/** The top of a command line, with what all its commands share. */
public interface Program {
    /** The streams of this run. */
    Terminal terminal();
}
