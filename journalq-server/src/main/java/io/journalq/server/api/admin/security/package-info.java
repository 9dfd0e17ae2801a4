/**
 * Handlers of the APIs for users' credentials and access control. There are no users and no authorizer. They respond as
 * Kafka does without an authorizer, so that tools go on.
 *
 * <p>In: requests. Out: responses. They know nothing else of the broker.
 */
package io.journalq.server.api.admin.security;
