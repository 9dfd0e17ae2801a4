package io.journalq.cli.shell;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;

/** Reads passwords, which are never arguments: other users of the machine can read those. Stateless. */
public final class Passwords {
    private static final Pattern LINE_BREAKS = Pattern.compile("[\\r\\n]+$");
    private static final long MAX_FILE_SIZE_BYTES = 4_096;

    private Passwords() {}

    /** The content of a file, without the line break at its end. */
    public static char[] read(Path file) {
        try {
            if (Files.size(file) > MAX_FILE_SIZE_BYTES) {
                throw new CommandFailure(file + " is larger than " + MAX_FILE_SIZE_BYTES + " bytes");
            }
            char[] password =
                    LINE_BREAKS.matcher(Files.readString(file)).replaceFirst("").toCharArray();
            if (password.length == 0) {
                throw new CommandFailure("the password in " + file + " is empty");
            }
            return password;
        } catch (IOException unreadable) {
            throw CommandFailure.unreadable(file, unreadable);
        }
    }

    /** Asks the user twice for a new password. */
    public static char[] ask(Terminal terminal, String user) {
        Console console = terminal.readsFromPerson() ? System.console() : null;
        if (console == null) {
            throw new CommandFailure("no terminal to ask for the password; use --password-file FILE");
        }
        char[] first = console.readPassword("New password of %s: ", user);
        char[] second = console.readPassword("The same again: ");
        if (first == null || first.length == 0) {
            throw new CommandFailure("the password is empty");
        }
        if (!Arrays.equals(first, second)) {
            throw new CommandFailure("the passwords differ");
        }
        return first;
    }
}
