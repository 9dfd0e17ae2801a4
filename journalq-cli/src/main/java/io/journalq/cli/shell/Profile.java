package io.journalq.cli.shell;

/**
 * A broker that a user has given a name. Immutable.
 *
 * @param bootstrap its addresses
 * @param tls how its connections are encrypted; null if they are not
 * @param sasl how its commands log in; null if they do not
 */
public record Profile(String bootstrap, TlsOptions tls, SaslOptions sasl) {}
