/**
 * The broker as a whole. {@link io.journalq.server.broker.Broker} builds every part, starts the parts in order and
 * stops them in the opposite order. It makes no other decisions.
 *
 * <p>In: a configuration. Only the command line and programs that embed a broker may depend on this package.
 */
package io.journalq.server.broker;
