/**
 * Describes, lists and changes the settings of topics, groups, client metrics subscriptions and brokers.
 *
 * <p>In: requests, the newest metadata image. Out: operations for the controller, responses. The effect of a setting is
 * up to the part of the broker that reads it.
 */
package io.journalq.server.api.admin.config;
