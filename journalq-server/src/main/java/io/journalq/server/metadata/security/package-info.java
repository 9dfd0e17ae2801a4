/**
 * The credentials of users and the access control lists (ACLs) in the metadata. In: changes. Out: credentials by user,
 * and decisions on who may do what. Knows no passwords and no protocol.
 */
package io.journalq.server.metadata.security;
