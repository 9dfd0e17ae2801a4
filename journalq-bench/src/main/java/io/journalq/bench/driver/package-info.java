/**
 * Brokers and clients of the Kafka protocol behind two interfaces, {@link io.journalq.bench.driver.BrokerDriver} and {@link
 * io.journalq.bench.driver.ClientDriver}. There is a class for each broker and for each client library. Input: settings.
 * Output: processes and connections. Must not know what is measured.
 */
package io.journalq.bench.driver;
