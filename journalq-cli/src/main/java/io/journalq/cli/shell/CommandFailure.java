package io.journalq.cli.shell;

import io.journalq.common.file.FileProblem;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A command failed. The message is one line that states the reason and what to do about it. */
public final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandFailure(String message) {
        super(message, null, false, false);
    }

    /** Says why a file that the user named cannot be read: the messages of some exceptions are only its name. */
    public static CommandFailure unreadable(Path file, IOException failed) {
        if (failed instanceof NoSuchFileException) {
            return new CommandFailure("cannot find " + file);
        }
        return new CommandFailure("cannot read " + file + ": " + FileProblem.reason(failed));
    }
}
