/**
 * The recent history of the broker, for charts. In: counters of a {@link io.journalq.server.gateway.BrokerView}, once per
 * second. Out: series of fixed length. Knows no topics: the memory does not grow with the load.
 */
package io.journalq.server.gateway.history;
