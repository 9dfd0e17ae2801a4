/**
 * Load on a broker alone: produce requests made beforehand, sent over plain sockets by a generator that costs next to
 * nothing, so that the broker's processor time per request can be seen. Knows the protocol and no client library. And
 * batches alone, without a broker: how fast any could be.
 */
package io.journalq.bench.load;
