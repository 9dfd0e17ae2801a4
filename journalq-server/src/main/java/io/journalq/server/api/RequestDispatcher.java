package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.TooManyEntriesException;
import io.journalq.server.loop.Limit;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.network.Connection;
import io.journalq.server.network.Exchange;
import io.journalq.server.network.ExchangeFactory;
import io.journalq.server.security.ClientThrottles;
import io.netty.buffer.ByteBuf;

/**
 * Reads a frame's header and body and finds the handler. An API or version that is not served ends the connection, as
 * the protocol has no answer to it; an unknown version of ApiVersions is answered in version 0, so that the client can
 * choose another (KIP-511).
 *
 * <p>Stateless, called on each connection's loop.
 */
public final class RequestDispatcher implements ExchangeFactory {
    private static final int API_VERSION_INDEX = Short.BYTES;
    private static final int CORRELATION_ID_INDEX = 2 * Short.BYTES;
    private static final int CLIENT_ID_INDEX = CORRELATION_ID_INDEX + Integer.BYTES;
    private static final int SHORTEST_FRAME_BYTES = CLIENT_ID_INDEX + Short.BYTES;

    private final HandlerRegistry registry;
    private final ClientThrottles throttles;
    private final int maxEntries;
    private final MemoryAccount connectionMemory;

    /**
     * Serves whoever connects.
     *
     * @param maxEntries most elements of all arrays of one request
     * @param connectionMemory where connections are charged
     */
    public RequestDispatcher(
            HandlerRegistry registry, ClientThrottles throttles, int maxEntries, MemoryAccount connectionMemory) {
        this.connectionMemory = connectionMemory;
        this.registry = registry;
        this.throttles = throttles;
        this.maxEntries = maxEntries;
    }

    /**
     * How many connections there may be.
     *
     * @param wanted by the settings
     * @param maxBytes what they may take of the heap
     */
    public static int maxConnections(int wanted, long maxBytes) {
        return (int) Math.max(1, Math.min(wanted, maxBytes / ClientSession.CONNECTION_BYTES));
    }

    @Override
    public Exchange open(Connection connection, ByteBuf frame) {
        int start = frame.readerIndex();
        if (frame.readableBytes() < SHORTEST_FRAME_BYTES) {
            throw new BadFrameException("a frame of " + frame.readableBytes() + " bytes is shorter than any request");
        }
        short apiKeyId = frame.getShort(start);
        short version = frame.getShort(start + API_VERSION_INDEX);
        HandlerRegistry.Served served = registry.find(apiKeyId);
        if (served == null) {
            throw new BadFrameException("request for " + name(apiKeyId) + ", which is not served");
        }
        connection.cycle().counters().onRequest(apiKeyId);
        ClientSession session = ClientSession.of(connection, throttles, connectionMemory);
        boolean known = served.serves(version);
        ServedApi api = served.api();
        if (!known && api.key() != ApiKey.API_VERSIONS) {
            throw new BadFrameException("request for " + name(apiKeyId) + " version " + version + "; versions "
                    + api.lowestVersion() + " to " + api.highestVersion() + " are served");
        }
        Request request = readHead(connection, frame, known ? served : unknownVersion(served), session, version);
        if (known) {
            readBody(connection, frame, api.key(), request);
        }
        return request;
    }

    /** Reads up to the client's name and leaves the frame's reader index behind it. */
    private static Request readHead(
            Connection connection, ByteBuf frame, HandlerRegistry.Served served, ClientSession session, short version) {
        int start = frame.readerIndex();
        int correlationId = frame.getInt(start + CORRELATION_ID_INDEX);
        int clientIdSizeBytes = frame.getShort(start + CLIENT_ID_INDEX);
        frame.skipBytes(SHORTEST_FRAME_BYTES);
        String clientId = null;
        if (clientIdSizeBytes >= 0) {
            if (clientIdSizeBytes > frame.readableBytes()) {
                throw new BadFrameException("the client's name is cut short");
            }
            clientId = session.clientId(frame, frame.readerIndex(), clientIdSizeBytes);
            frame.skipBytes(clientIdSizeBytes);
        }
        return new Request(connection, frame, served, session, version, correlationId, clientId);
    }

    private void readBody(Connection connection, ByteBuf frame, ApiKey key, Request request) {
        try {
            request.readBody(new MessageReader(frame, maxEntries));
        } catch (TooManyEntriesException tooMany) {
            connection.cycle().counters().onLimit(Limit.REQUEST_ENTRIES);
            throw new BadFrameException(key.apiName() + ": " + tooMany.getMessage() + " (request.max.entries)");
        }
    }

    private static HandlerRegistry.Served unknownVersion(HandlerRegistry.Served served) {
        return new HandlerRegistry.Served(served.api(), new Handler<>() {
            @Override
            public ServedApi api() {
                return served.api();
            }

            @Override
            public void handle(RequestContext context, ApiMessage nothing) {
                ((Request) context).respondAs(ApiVersionsHandler.unknownVersion(served), (short) 0);
            }
        });
    }

    private static String name(short apiKeyId) {
        ApiKey key = ApiKey.of(apiKeyId);
        return key == null ? "an unknown API, number " + apiKeyId : key.apiName();
    }
}
