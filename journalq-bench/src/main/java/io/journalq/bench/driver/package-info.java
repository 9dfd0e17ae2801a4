/**
 * Brokers and clients behind two small interfaces, {@link io.journalq.bench.driver.BrokerDriver} and {@link
 * io.journalq.bench.driver.ClientDriver}: one class for each broker that can be started, one for each client that can
 * load it. In come settings; out go processes and connections. It must not know what is measured.
 */
package io.journalq.bench.driver;
