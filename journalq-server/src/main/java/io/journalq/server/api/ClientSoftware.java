package io.journalq.server.api;

/** The name and version of a client's library (KIP-511). Kept with its connection, on the connection's loop. */
public final class ClientSoftware {
    /** Maximum length that is kept of each text. */
    private static final int MAX_LENGTH = 256;

    private String name = "";
    private String version = "";

    private ClientSoftware() {}

    /** The software of the client of this connection; empty texts if it is unknown. */
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
