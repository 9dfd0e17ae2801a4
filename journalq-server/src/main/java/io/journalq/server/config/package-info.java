/**
 * Settings of the broker and of topics: one registry of keys, each with its type, unit, range, default and
 * documentation; what is loaded from file, environment and command line comes out as the immutable {@link
 * io.journalq.server.config.BrokerConfig}, what a topic overrides as {@link io.journalq.server.config.TopicConfig}.
 *
 * <p>Knows nothing of the parts that it configures, so that every one of them may know it.
 */
package io.journalq.server.config;
