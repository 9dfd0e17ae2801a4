/**
 * Brokers under test, each with the client that drives it, behind one interface: {@link
 * io.journalq.bench.peer.PubSubDriver}. A driver of the Kafka protocol combines a broker and a client of {@link
 * io.journalq.bench.driver}, whose wider interfaces serve the produce cases. Input: settings. Output: connections that
 * publish and receive bytes. Must not know what is measured.
 */
package io.journalq.bench.peer;
