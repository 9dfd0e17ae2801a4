package io.journalq.server.api.group;

import io.journalq.server.api.RequestContext;
import io.journalq.server.group.model.Group.Origin;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Describes a client to its group. */
final class Clients {
    /** Maximum length of a client id that is kept, in characters. */
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
}
