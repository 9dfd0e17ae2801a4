/**
 * Load without a client library: prebuilt produce requests over plain sockets, which show the broker's processor time per
 * request; prebuilt requests to the HTTP gateway, to NATS and to RabbitMQ, whose messages return over a WebSocket or as
 * events; clients that burden the gateway; searches; and the work on batches without a broker, which is the upper limit of
 * any throughput. Input: messages. Output: rates, latencies and processor time. Must not know client libraries.
 */
package io.journalq.bench.load;
