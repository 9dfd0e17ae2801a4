/**
 * Handlers of the APIs for users' credentials and access control. There are no users and no authorizer. The handlers
 * respond as Kafka does without an authorizer, so that tools keep working.
 *
 * <p>In: requests. Out: responses. They know nothing else of the broker.
 */
package io.journalq.server.api.admin.security;
