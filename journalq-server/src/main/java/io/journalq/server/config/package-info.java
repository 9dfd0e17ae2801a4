/**
 * The settings of the broker and of topics. A registry contains every key with its type, unit, range, default and
 * documentation.
 *
 * <p>In: a file, the environment and the command line. Out: the immutable {@link
 * io.journalq.server.config.BrokerConfig} and, for the overrides of a topic, {@link
 * io.journalq.server.config.TopicConfig}. Knows nothing of the parts that it configures, so that every part may depend
 * on it.
 */
package io.journalq.server.config;
