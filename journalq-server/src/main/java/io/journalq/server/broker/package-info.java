/**
 * The broker as a whole: {@link io.journalq.server.broker.Broker} builds every part, starts all in order and stops them in
 * the opposite order. It decides nothing else. In comes a configuration; nothing else may know this package but the command line.
 */
package io.journalq.server.broker;
