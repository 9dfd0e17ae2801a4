/**
 * From frame to request and from answer to frame: one {@link io.journalq.server.api.Handler} per API, registered with
 * the versions that it serves. In come frames from the network, out go calls to the handlers and answers in order.
 *
 * <p>Handlers know shards and metadata images; this package itself knows neither.
 */
package io.journalq.server.api;
