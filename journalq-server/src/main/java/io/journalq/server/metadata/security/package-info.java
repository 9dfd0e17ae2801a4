/**
 * The credentials of users in the metadata. In: changes. Out: credentials by user. Knows no passwords and no protocol.
 */
package io.journalq.server.metadata.security;
