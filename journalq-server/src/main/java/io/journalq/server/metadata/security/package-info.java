/**
 * The credentials of users in the metadata, and the operations and types of resources that rights are made of. In:
 * changes. Out: credentials by user. Knows no passwords and no protocol.
 */
package io.journalq.server.metadata.security;
