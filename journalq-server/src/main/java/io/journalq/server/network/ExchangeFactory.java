package io.journalq.server.network;

import io.netty.buffer.ByteBuf;

/** Opens the exchange of a frame. Called on the connection's loop. */
@FunctionalInterface
public interface ExchangeFactory {
    /**
     * Decodes a frame.
     *
     * @param frame one request without its length field; from this call on, the exchange owns it
     * @throws RuntimeException when the frame cannot be decoded; the connection is then closed and the frame released
     */
    Exchange open(Connection connection, ByteBuf frame);
}
