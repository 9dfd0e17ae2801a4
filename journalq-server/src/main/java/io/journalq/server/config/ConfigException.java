package io.journalq.server.config;

/** A setting is invalid. The message names the key, the fault and a valid value. */
public final class ConfigException extends Exception {
    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }
}
