package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.server.api.ClientSoftware;
import io.journalq.server.api.RequestContext;
import java.net.InetSocketAddress;

/** The attributes of a client by which a subscription can select it. Immutable. */
record ClientAttributes(
        Uuid instanceId, String clientId, String softwareName, String softwareVersion, String address, String port) {

    /** On the connection's loop. */
    static ClientAttributes of(RequestContext context, Uuid instanceId) {
        ClientSoftware software = ClientSoftware.of(context);
        boolean known = context.remoteAddress() instanceof InetSocketAddress address && address.getAddress() != null;
        InetSocketAddress remote = known ? (InetSocketAddress) context.remoteAddress() : null;
        return new ClientAttributes(
                instanceId,
                context.clientId() == null ? "" : context.clientId(),
                software.name(),
                software.version(),
                known ? remote.getAddress().getHostAddress() : "",
                known ? Integer.toString(remote.getPort()) : "");
    }

    /** The value of the attribute that a selector of {@code ClientMetricsSettings} names. */
    String of(String selector) {
        return switch (selector) {
            case "client_instance_id" -> instanceId.toString();
            case "client_id" -> clientId;
            case "client_software_name" -> softwareName;
            case "client_software_version" -> softwareVersion;
            case "client_source_address" -> address;
            case "client_source_port" -> port;
            default -> "";
        };
    }
}
