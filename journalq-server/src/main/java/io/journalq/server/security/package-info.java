/** Client quotas, and the identity that they apply to. */
package io.journalq.server.security;
