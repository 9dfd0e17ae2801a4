/** The identity of a client, its rights, and its quotas. */
package io.journalq.server.security;
