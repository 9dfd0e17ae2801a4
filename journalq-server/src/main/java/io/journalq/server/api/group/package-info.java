/**
 * Handlers of the APIs of consumer groups: in come requests, out go answers of the groups' machines. Any decision is the
 * machine's; a handler finds the right coordinator and turns what it cannot do into the API's own error.
 */
package io.journalq.server.api.group;
