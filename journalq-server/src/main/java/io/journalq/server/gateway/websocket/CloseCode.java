package io.journalq.server.gateway.websocket;

/** Why a WebSocket is closed (RFC 6455, section 7.4). */
enum CloseCode {
    NORMAL(1000),
    /** The broker stops. The client connects again, and continues where it was. */
    GOING_AWAY(1001),
    PROTOCOL_ERROR(1002),
    UNSUPPORTED(1003),
    /** A message is not UTF-8 or not JSON. */
    INVALID_DATA(1007),
    /** The client is too slow, or does not respond, or its credentials have expired. */
    POLICY(1008),
    TOO_BIG(1009),
    INTERNAL_ERROR(1011);

    private static final int FIRST = 1000;
    private static final int FIRST_PRIVATE = 3000;
    private static final int LAST_PRIVATE = 4999;
    private static final int LAST_REGISTERED = 1014;

    private final int code;

    CloseCode(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    /** Whether a client may send a code. */
    static boolean isSendable(int code) {
        boolean registered = code >= FIRST && code <= LAST_REGISTERED && (code < 1004 || code > 1006);
        return registered || (code >= FIRST_PRIVATE && code <= LAST_PRIVATE);
    }
}
