/**
 * Handlers of the APIs of consumer groups.
 *
 * <p>In: requests. Out: responses of the group machines. The machines make all decisions. A handler finds the right
 * coordinator, and converts its failures to the errors of the API.
 */
package io.journalq.server.api.group;
