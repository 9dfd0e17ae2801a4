/**
 * The requests that brokers of a cluster send to each other, on both sides. Handlers serve them on the listener of the
 * brokers only. {@link io.journalq.server.api.peer.ForwardingHandler} passes requests of clients to the controller, and {@link
 * io.journalq.server.api.peer.RoutedCalls} those of the gateway to leaders and coordinators.
 */
package io.journalq.server.api.peer;
