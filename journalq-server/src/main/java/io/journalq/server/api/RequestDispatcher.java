package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.server.api.Handler.ServedApi;
import io.journalq.server.loop.Limit;
import io.journalq.server.memory.MemoryAccount;
import io.journalq.server.network.Connection;
import io.journalq.server.network.Exchange;
import io.journalq.server.network.PreAuthentication;
import io.journalq.server.security.ClientThrottles;
import io.journalq.server.security.Principal;
import io.journalq.server.security.PrincipalRules;
import io.journalq.server.security.sasl.SaslMechanisms;
import io.netty.buffer.ByteBuf;
import io.netty.util.AttributeKey;

/**
 * Decodes the header and the body of a frame, and finds the handler. A request for an API or version that is not served
 * closes the connection, because the protocol has no response to it. The response to an unknown version of ApiVersions
 * is sent in version 0, so that the client can choose another version (KIP-511).
 *
 * <p>Stateless, called on each connection's loop.
 */
public final class RequestDispatcher implements Exchange.Factory {
    private static final int API_VERSION_INDEX = Short.BYTES;
    private static final int CORRELATION_ID_INDEX = 2 * Short.BYTES;
    private static final int CLIENT_ID_INDEX = CORRELATION_ID_INDEX + Integer.BYTES;
    private static final int SHORTEST_FRAME_BYTES = CLIENT_ID_INDEX + Short.BYTES;
    private static final AttributeKey<ClientSession> SESSION = AttributeKey.valueOf(ClientSession.class, "session");

    private final HandlerRegistry registry;
    private final ClientThrottles throttles;
    private final int maxEntries;
    private final MemoryAccount connectionMemory;
    private final PrincipalRules principals;
    private final LoginRules logins;

    /**
     * Creates a dispatcher.
     *
     * @param maxEntries maximum number of elements in all arrays of one request
     * @param connectionMemory is charged for connections
     * @param principals derives the identity of a client from its certificate
     * @param logins which listeners require a login
     */
    public RequestDispatcher(
            HandlerRegistry registry,
            ClientThrottles throttles,
            int maxEntries,
            MemoryAccount connectionMemory,
            PrincipalRules principals,
            LoginRules logins) {
        this.connectionMemory = connectionMemory;
        this.principals = principals;
        this.logins = logins;
        this.registry = registry;
        this.throttles = throttles;
        this.maxEntries = maxEntries;
    }

    /**
     * The maximum number of connections.
     *
     * @param wanted the number in the settings
     * @param maxBytes maximum heap of all connections
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
        ClientSession session = sessionOf(connection);
        Login login = session.login();
        if (login != null && !login.admits(served.api().key())) {
            throw new BadFrameException("a request for " + name(apiKeyId) + " without a login");
        }
        boolean known = served.serves(version);
        ServedApi api = served.api();
        if (!known && api.key() != ApiKey.API_VERSIONS) {
            throw new BadFrameException("request for " + name(apiKeyId) + " version " + version + "; versions "
                    + api.lowestVersion() + " to " + api.highestVersion() + " are served");
        }
        KafkaRequest request =
                readHead(connection, frame, known ? served : unknownVersion(served), session, version, known);
        if (known) {
            readBody(
                    connection,
                    frame,
                    api.key(),
                    request,
                    login == null || login.isKnown() ? maxEntries : PreAuthentication.MAX_ENTRIES);
        }
        return request;
    }

    private ClientSession sessionOf(Connection connection) {
        ClientSession session = connection.channel().attr(SESSION).get();
        if (session == null) {
            SaslMechanisms mechanisms = logins.byListener().get(connection.listenerName());
            // Before the first request is decoded: a client whose certificate no rule matches is refused here.
            Principal principal =
                    mechanisms == null ? principals.of(connection.clientCertificate()) : Principal.ANONYMOUS;
            ClientSession created = new ClientSession(principal, throttles, connectionMemory, connection::pause);
            if (mechanisms != null) {
                created.require(new Login(
                        connection,
                        mechanisms,
                        logins.sessionLifetimeMs(),
                        registry.authorizer().audit(),
                        created::logIn));
            }
            connection.channel().attr(SESSION).set(created);
            connection.channel().closeFuture().addListener(closed -> created.close());
            session = created;
        }
        return session;
    }

    /** Reads up to the client id, and leaves the reader index of the frame behind it. */
    private static KafkaRequest readHead(
            Connection connection,
            ByteBuf frame,
            HandlerRegistry.Served served,
            ClientSession session,
            short version,
            boolean known) {
        int start = frame.readerIndex();
        int correlationId = frame.getInt(start + CORRELATION_ID_INDEX);
        int clientIdSizeBytes = frame.getShort(start + CLIENT_ID_INDEX);
        frame.skipBytes(SHORTEST_FRAME_BYTES);
        String clientId = null;
        if (clientIdSizeBytes >= 0) {
            if (clientIdSizeBytes > frame.readableBytes()) {
                throw new BadFrameException("the client id is incomplete");
            }
            clientId = session.clientId(frame, frame.readerIndex(), clientIdSizeBytes);
            frame.skipBytes(clientIdSizeBytes);
        }
        short responseVersion = known ? version : 0;
        return new KafkaRequest(connection, frame, served, session, version, responseVersion, correlationId, clientId);
    }

    private static void readBody(
            Connection connection, ByteBuf frame, ApiKey key, KafkaRequest request, int maxEntries) {
        try {
            request.readBody(new MessageReader(frame, maxEntries));
        } catch (BadFrameException.TooManyEntriesException tooMany) {
            connection.cycle().counters().onLimit(Limit.REQUEST_ENTRIES);
            throw new BadFrameException(key.apiName() + ": " + tooMany.getMessage() + " (request.max.entries)");
        }
    }

    private static HandlerRegistry.Served unknownVersion(HandlerRegistry.Served served) {
        Handler<ApiMessage> refusing = new Handler<>() {
            @Override
            public ServedApi api() {
                return served.api();
            }

            @Override
            public void handle(RequestContext context, ApiMessage nothing) {
                context.respond(ApiVersionsHandler.unknownVersion(served));
            }
        };
        return new HandlerRegistry.Served(served.api(), refusing, served.authorizer());
    }

    private static String name(short apiKeyId) {
        ApiKey key = ApiKey.of(apiKeyId);
        return key == null ? "an unknown API, number " + apiKeyId : key.apiName();
    }
}
