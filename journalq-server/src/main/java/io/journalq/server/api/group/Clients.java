package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.Origin;
import io.journalq.server.loop.Limit;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Who a client is, as groups remember it, and what it is told. */
final class Clients {
    /** How much of a client's id is remembered, in characters. */
    private static final int MAX_CLIENT_ID_LENGTH = 256;

    private Clients() {}

    static Origin originOf(RequestContext context) {
        SocketAddress remote = context.remoteAddress();
        String host = remote instanceof InetSocketAddress internet
                ? internet.getAddress().toString()
                : String.valueOf(remote);
        String clientId = context.clientId() == null ? "" : context.clientId();
        return new Origin(clientId.substring(0, Math.min(MAX_CLIENT_ID_LENGTH, clientId.length())), host);
    }

    /** Answers, and counts when {@code error} is that of a limit. Any thread. */
    static void respond(RequestContext context, ApiMessage response, ErrorCode error) {
        Limit limit =
                switch (error) {
                    case GROUP_MAX_SIZE_REACHED -> Limit.GROUPS;
                    case OFFSET_METADATA_TOO_LARGE -> Limit.OFFSET_METADATA;
                    default -> null;
                };
        if (limit != null) {
            context.cycle().counters().onLimit(limit);
        }
        context.respond(response);
    }
}
