package io.journalq.server.api;

/** What a client said of the library that it uses (KIP-511). Kept with its connection, on the connection's loop. */
public final class ClientSoftware {
    private String name = "";
    private String version = "";

    private ClientSoftware() {}

    /** What the client of this connection said; empty texts while it said nothing. */
    public static ClientSoftware of(RequestContext context) {
        return context.connectionState(ClientSoftware.class, ClientSoftware::new);
    }

    void set(String itsName, String itsVersion) {
        name = itsName;
        version = itsVersion;
    }

    public String name() {
        return name;
    }

    public String version() {
        return version;
    }
}
