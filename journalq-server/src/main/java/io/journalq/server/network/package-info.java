/**
 * Sockets: listeners, frames, the order of responses, and back-pressure. An {@link io.journalq.server.network.Acceptor}
 * admits connections and passes each to the {@link io.journalq.server.network.Door} of its listener, which speaks a
 * protocol. For the Kafka protocol, each frame becomes an {@link io.journalq.server.network.Exchange}, which keeps the
 * place of its response in the order of its connection.
 *
 * <p>This package knows nothing of requests. An {@link io.journalq.server.network.Exchange.Factory} decodes frames.
 */
package io.journalq.server.network;
