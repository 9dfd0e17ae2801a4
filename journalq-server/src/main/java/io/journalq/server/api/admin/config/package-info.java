/**
 * Settings of topics, groups, subscriptions of client metrics and brokers: to describe, list and change them.
 *
 * <p>In: requests, the newest metadata image. Out: operations for the controller, responses. What a setting means, and
 * who follows it, stands elsewhere.
 */
package io.journalq.server.api.admin.config;
