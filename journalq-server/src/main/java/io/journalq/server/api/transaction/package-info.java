/**
 * The APIs of idempotent and, later, transactional producers. In come requests on their connections' loops, out go calls
 * to the controller.
 */
package io.journalq.server.api.transaction;
