/**
 * The requests of {@link io.journalq.client.Admin}, by subject: topics, configurations, brokers, groups, transactions. Each
 * method blocks until the response arrives, and maps it to the values of {@code io.journalq.client.admin}. Must not be
 * called on the event loop.
 */
package io.journalq.client.internal.admin;
