package io.journalq.cli.shell;

/** The top of a command line, which has what all of its commands share. */
public interface Program {
    /** The streams of this run. */
    Terminal terminal();
}
