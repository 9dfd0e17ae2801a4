/**
 * Handlers of the APIs for users' credentials and ACLs. If rights are not enforced, the handlers of ACLs respond as Kafka
 * does without an authorizer, so that tools keep working.
 *
 * <p>In: requests. Out: responses. They know nothing else of the broker than its metadata.
 */
package io.journalq.server.api.admin.security;
