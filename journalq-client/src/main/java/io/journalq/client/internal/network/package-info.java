/**
 * Connections to brokers, the metadata of the cluster, and requests with version negotiation, timeouts and retries. Knows
 * the headers of requests and responses, but not what their bodies mean, except for Metadata and ApiVersions.
 */
package io.journalq.client.internal.network;
