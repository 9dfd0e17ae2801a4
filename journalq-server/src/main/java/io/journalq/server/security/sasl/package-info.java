/**
 * The exchanges by which clients prove who they are, from the mechanism that they choose to the name of their user. In:
 * the messages of SASL, and the credentials in the metadata. Out: the messages of the broker, and the result. Knows no
 * connections and no frames.
 */
package io.journalq.server.security.sasl;
