package io.journalq.server.api.group;

import io.journalq.server.api.RequestContext;
import io.journalq.server.group.Origin;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Who a client is, as groups remember it. */
final class Clients {
    private Clients() {}

    static Origin originOf(RequestContext context) {
        SocketAddress remote = context.remoteAddress();
        String host = remote instanceof InetSocketAddress internet
                ? internet.getAddress().toString()
                : String.valueOf(remote);
        return new Origin(context.clientId() == null ? "" : context.clientId(), host);
    }
}
