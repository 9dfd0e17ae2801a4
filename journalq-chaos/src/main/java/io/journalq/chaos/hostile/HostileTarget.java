package io.journalq.chaos.hostile;

/** A listener of the attacked broker, by its name, which is its security protocol. */
public enum HostileTarget {
    PLAINTEXT,
    /** The listener of the healthy client beside loads on the two listeners that require a login. */
    SSL,
    SASL_PLAINTEXT,
    SASL_SSL
}
