package io.journalq.cli.shell;

/** How a command shows its result: for people or for programs. */
public enum OutputFormat {
    TABLE,
    JSON;

    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
