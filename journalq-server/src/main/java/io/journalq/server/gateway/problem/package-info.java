/** The errors of the HTTP gateway, as problem documents (RFC 9457). Knows neither connections nor routes. */
package io.journalq.server.gateway.problem;
