/**
 * Handlers of the APIs by which clients log in (SASL). The only ones besides ApiVersions that serve a client of a
 * listener with SASL before its login.
 *
 * <p>In: requests. Out: responses, and the steps of {@link io.journalq.server.api.Login}.
 */
package io.journalq.server.api.security;
