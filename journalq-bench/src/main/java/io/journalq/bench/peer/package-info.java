/**
 * Brokers under test, each with the client that drives it, behind one small interface: {@link
 * io.journalq.bench.peer.PubSubDriver}. Those of the Kafka protocol are put together from a broker and a client of {@link
 * io.journalq.bench.driver}, whose wider interfaces serve the produce cases. In come settings; out go connections that
 * publish and receive bytes. It must not know what is measured.
 */
package io.journalq.bench.peer;
