package io.journalq.server.network;

import io.netty.buffer.ByteBuf;

/** Opens the exchange of a frame. Called on the connection's loop. */
@FunctionalInterface
public interface ExchangeFactory {
    /**
     * Decodes a frame.
     *
     * @param frame one request without its length; the exchange owns it from here
     * @throws RuntimeException when the frame cannot be read; the connection is then closed and the frame released
     */
    Exchange open(Connection connection, ByteBuf frame);
}
