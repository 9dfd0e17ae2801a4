package io.journalq.server.config;

/** A setting that cannot be used: its message names the key, what is wrong and what would be right. */
public final class ConfigException extends Exception {
    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }
}
