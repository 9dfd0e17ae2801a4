package io.journalq.server.api;

/** What a client said of the library that it uses (KIP-511). Kept with its connection, on the connection's loop. */
public final class ClientSoftware {
    /** What is kept of each text for as long as the connection is open. */
    private static final int MAX_LENGTH = 256;

    private String name = "";
    private String version = "";

    private ClientSoftware() {}

    /** What the client of this connection said; empty texts while it said nothing. */
    public static ClientSoftware of(RequestContext context) {
        return context.connectionState(ClientSoftware.class, ClientSoftware::new);
    }

    void set(String itsName, String itsVersion) {
        name = kept(itsName);
        version = kept(itsVersion);
    }

    private static String kept(String text) {
        return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH);
    }

    public String name() {
        return name;
    }

    public String version() {
        return version;
    }
}
