/**
 * Runs Apache Kafka's client integration tests against JournalQ. In come the cluster configurations that the tests
 * declare; out go test results. Stands in place of Kafka's own cluster extension; knows the broker by its public start and
 * close, and by its port.
 */
package io.journalq.conformance;
