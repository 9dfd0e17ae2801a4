/**
 * Client metrics (KIP-714): which metrics each client sends, and what the broker does with them.
 *
 * <p>In: requests, subscriptions from the newest metadata image. Out: responses, log lines of the logger {@code
 * journalq.client.metrics}, counters. All state of clients is bounded.
 */
package io.journalq.server.api.telemetry;
