/**
 * The HTTP gateway: records in and out over HTTP, on the broker's own loops.
 *
 * <p>In: requests of HTTP clients. Out: calls of the broker's registered handlers, so that quotas act once for all
 * protocols. {@code problem} has the errors, {@code guard} the checks of each request, {@code http} the connections, and
 * {@code produce} and {@code consume} the routes. The gateway knows no shard and no journal. No class of it is loaded
 * unless {@code gateway.listener} is set.
 */
package io.journalq.server.gateway;
