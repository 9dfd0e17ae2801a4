/**
 * Handlers of the APIs for users' credentials and access control. There is no authorizer: the handlers of ACLs respond
 * as Kafka does without one, so that tools keep working.
 *
 * <p>In: requests. Out: responses. They know nothing else of the broker than its metadata.
 */
package io.journalq.server.api.admin.security;
