/**
 * The checks that each HTTP request passes before its route: framing, Host, Origin and the type of its body. In: the head
 * of a request. Out: nothing, or a problem. Knows neither connections nor routes.
 */
package io.journalq.server.gateway.guard;
