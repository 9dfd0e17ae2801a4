package io.journalq.server.api.admin;

/** Kinds of things that have settings, by their number on the wire. */
final class ConfigResource {
    static final byte TOPIC = 2;
    static final byte BROKER = 4;
    static final byte BROKER_LOGGER = 8;
    static final byte CLIENT_METRICS = 16;
    static final byte GROUP = 32;

    private ConfigResource() {}

    /** Why settings of that kind cannot be had. */
    static String unsupported(byte type) {
        return "resources of type " + type + " have no settings here; topics (2) and brokers (4) have";
    }
}
