package io.journalq.server.network;

import io.netty.buffer.ByteBuf;

/** Turns a frame into the exchange that answers it. Called on the connection's loop. */
@FunctionalInterface
public interface ExchangeFactory {
    /**
     * Reads as much of a frame as it takes to know what is asked.
     *
     * @param frame one request without its length; the exchange owns it from here
     * @throws RuntimeException when the frame cannot be read; the connection is then closed and the frame released
     */
    Exchange open(Connection connection, ByteBuf frame);
}
