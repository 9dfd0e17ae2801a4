/**
 * The conventions of Confluent's REST proxy, for code that speaks them already: produce of the APIs v2 and v3, with their
 * media types and error codes. In: requests of HTTP. Out: requests to the Produce handler. It knows no shard and no journal.
 */
package io.journalq.server.gateway.confluent;
