/**
 * Metrics of clients (KIP-714): which metrics each client is to send, and what happens to them.
 *
 * <p>In: requests, subscriptions from the newest metadata image. Out: responses, log lines of the logger {@code
 * journalq.client.metrics}, counters. Everything that is kept of clients is bounded.
 */
package io.journalq.server.api.telemetry;
