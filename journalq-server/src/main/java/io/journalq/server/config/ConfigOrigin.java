package io.journalq.server.config;

/** Where the value of a broker setting comes from. Later constants override earlier ones. */
public enum ConfigOrigin {
    DEFAULT,
    FILE,
    ENVIRONMENT,
    COMMAND_LINE,
    /** Set at runtime, for all brokers. */
    DYNAMIC_DEFAULT,
    /** Set at runtime, for this broker. */
    DYNAMIC_BROKER
}
