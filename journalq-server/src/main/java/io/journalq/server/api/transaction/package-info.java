/**
 * The APIs of idempotent and transactional producers. In come requests on their connections' loops, out go calls to the
 * coordinators of transactions and of groups, and to the controller for producer ids; decides nothing itself.
 */
package io.journalq.server.api.transaction;
