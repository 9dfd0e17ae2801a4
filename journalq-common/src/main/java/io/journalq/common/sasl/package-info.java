/**
 * The parts of SASL that brokers, clients and commands share: the keys and the messages of SCRAM (RFC 5802, RFC 7677).
 * The messages of errors contain nothing of a message, a key or a password. Knows no users, sockets and settings.
 */
package io.journalq.common.sasl;
