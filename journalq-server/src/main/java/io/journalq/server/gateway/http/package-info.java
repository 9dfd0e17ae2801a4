/**
 * HTTP connections of the gateway, on the broker's loops. In: bytes of a {@link
 * io.journalq.server.gateway.http.HttpDoor}. Out: calls of a {@link io.journalq.server.gateway.http.Route}, and responses
 * in the order of the requests. Requests to the broker are {@link io.journalq.server.api.LocalCall}s, so that quotas apply
 * to them as to requests of the Kafka protocol. Knows neither records nor the routes themselves.
 */
package io.journalq.server.gateway.http;
