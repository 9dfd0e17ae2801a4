/** How much a client may do. (Who may do what comes here too, with authentication.) */
package io.journalq.server.security;
