package io.journalq.sim.workload;

/** A record that somebody tried to append, and what is known of it. */
public final class Sent {
    private final String id;
    private final String producer;
    private final int number;
    private final boolean idempotent;

    /**
     * A record about to be sent.
     *
     * @param id names it among all
     * @param producer who sends it; records of one producer have an order
     * @param number place in that order
     * @param idempotent whether it must not be there twice
     */
    public Sent(String id, String producer, int number, boolean idempotent) {
        this.id = id;
        this.producer = producer;
        this.number = number;
        this.idempotent = idempotent;
    }

    public String id() {
        return id;
    }

    public String producer() {
        return producer;
    }

    public int number() {
        return number;
    }

    public boolean isIdempotent() {
        return idempotent;
    }

    /** What its record holds: its name, and more that follows from it, so that a changed byte shows. */
    public byte[] value() {
        return value(id);
    }

    static byte[] value(String id) {
        int hash = id.hashCode();
        StringBuilder text = new StringBuilder(id).append('#');
        for (int i = (hash >>> 4) % 120 & 0x7F; i > 0; i--) {
            hash = hash * 31 + i;
            text.append((char) ('a' + Math.floorMod(hash, 26)));
        }
        return text.toString().getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }

    /** The name in a record's value; null when the value is not one that was sent. */
    static String idOf(byte[] value) {
        String text = new String(value, java.nio.charset.StandardCharsets.US_ASCII);
        int end = text.indexOf('#');
        if (end < 0) {
            return null;
        }
        String id = text.substring(0, end);
        return java.util.Arrays.equals(value, value(id)) ? id : null;
    }
}
