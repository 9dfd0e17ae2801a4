/**
 * Sockets: listeners, frames, the order of answers, and back pressure. In come bytes, out go whole frames, each as an
 * {@link io.journalq.server.network.Exchange} that keeps its place in its connection's order of answers until it is
 * answered.
 *
 * <p>Knows nothing of requests: what a frame says is for the {@link io.journalq.server.network.ExchangeFactory}.
 */
package io.journalq.server.network;
