/**
 * Requests and responses: one {@link io.journalq.server.api.Handler} for each API, registered with the versions that it
 * serves.
 *
 * <p>In: frames from the network. Out: calls to the handlers, and responses in order. Handlers know shards and metadata
 * images; this package itself knows neither.
 */
package io.journalq.server.api;
