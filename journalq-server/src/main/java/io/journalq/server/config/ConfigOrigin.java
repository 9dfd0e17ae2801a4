package io.journalq.server.config;

/** Where a broker setting's value came from; a later one wins over an earlier one. */
public enum ConfigOrigin {
    DEFAULT,
    FILE,
    ENVIRONMENT,
    COMMAND_LINE,
    /** Set while the broker runs, for every broker. */
    DYNAMIC_DEFAULT,
    /** Set while the broker runs, for this one. */
    DYNAMIC_BROKER
}
