/**
 * Hostile clients, and the measurement of a healthy client beside them. {@code HostileMeasurement} lets a healthy
 * client send at a fixed rate, and starts each kind of hostile load in a process of its own. It reports the latency of
 * the healthy client with and without the load, and the resources and counters of the broker. The package uses only the
 * protocol, and does not depend on the classes of the broker.
 */
package io.journalq.chaos.hostile;
