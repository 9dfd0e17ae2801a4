/**
 * Runs Apache Kafka's client integration tests against JournalQ. Its extension replaces Kafka's own: it reads the cluster
 * configuration that a test declares, and starts and closes an embedded broker for it.
 */
package io.journalq.conformance;
