package io.journalq.cli.shell;

/** The format of results: for people or for programs. */
public enum OutputFormat {
    TABLE,
    JSON;

    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
