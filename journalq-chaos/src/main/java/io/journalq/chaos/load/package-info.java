/**
 * Clients that keep brokers under load, and the ledgers of what was acknowledged to them. Each message carries its
 * producer, its number and a checksum. A reading compares what the brokers hold with the ledgers. Knows the clients of
 * JournalQ and Kafka, and of brokers only the lines that they log about faults.
 */
package io.journalq.chaos.load;
