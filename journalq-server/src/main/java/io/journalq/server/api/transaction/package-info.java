/**
 * The APIs of idempotent and transactional producers.
 *
 * <p>In: requests, on the loops of their connections. Out: calls to the coordinators of transactions and of groups, and
 * to the controller for producer ids. Makes no decisions.
 */
package io.journalq.server.api.transaction;
