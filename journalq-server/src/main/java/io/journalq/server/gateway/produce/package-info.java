/**
 * Produce over HTTP. In: bodies of requests. Out: Produce requests to the broker's handler, with one batch for each
 * partition, and the offsets that they were given.
 */
package io.journalq.server.gateway.produce;
