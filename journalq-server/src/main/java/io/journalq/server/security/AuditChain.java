package io.journalq.server.security;

/**
 * Links the lines of the audit log. A line is {@code {"audit":1,"seq":N,"previous":"H",…,"hash":"H"}}: {@code seq}
 * counts from 1 after each start of the broker, {@code previous} is the hash of the line before, and {@code hash} is the
 * SHA-256 of everything before {@code ,"hash"}. The hash of the line before the first one is empty. One thread at a time.
 *
 * <p>The chain shows that lines were changed, removed, moved or added in between. It has no secret: who can write the
 * whole file can also write another chain. Copy the newest hash to another machine to notice that.
 */
public final class AuditChain {
    /** The beginning of every line. */
    static final String BEGINNING = "{\"audit\":1,\"seq\":";

    private static final String PREVIOUS = ",\"previous\":\"";
    private static final String HASH = ",\"hash\":\"";
    private static final String END = "\"}";

    private long seq;
    private String previous = "";

    /** The next line with these fields. */
    String next(String fields) {
        seq++;
        String hashed = BEGINNING + seq + PREVIOUS + previous + "\"," + fields;
        previous = AuditLog.hash(hashed);
        return hashed + HASH + previous + END;
    }

    /** Whether a line contains an event of the audit log. */
    public static boolean isEvent(String line) {
        return line.contains(BEGINNING);
    }

    /**
     * The JSON object of the event in a line, without what a logger wrote before and after it. The last one, if another
     * event before it was not written completely.
     */
    public static String event(String line) {
        int start = line.lastIndexOf(BEGINNING);
        int end = line.lastIndexOf(END);
        return line.substring(start, end < start ? line.length() : end + END.length());
    }

    /**
     * Checks the next line. A line that begins a new chain is correct. If a full disk or a power loss has left a part of
     * an event, the logger has written the next one behind it, in the same line.
     *
     * @param line may have other text before it, such as the time of the logger, and after it
     * @return what is wrong; null if nothing is. Lines that are none of the audit log are correct
     */
    public String check(String line) {
        int start = line.lastIndexOf(BEGINNING);
        if (start < 0) {
            return null;
        }
        String problem = checkFrom(line, start);
        // The names of clients have no quotes in an event, so that they cannot contain the beginning of another one.
        return problem == null && line.indexOf(BEGINNING) < start ? "a line before it is not complete" : problem;
    }

    private String checkFrom(String line, int start) {
        int hashAt = line.lastIndexOf(HASH);
        int previousAt = line.indexOf(PREVIOUS, start);
        int end = hashAt < 0 ? -1 : line.indexOf(END, hashAt + HASH.length());
        if (hashAt < start || previousAt < 0 || previousAt > hashAt || end < 0) {
            return "it is not complete";
        }
        String hashed = line.substring(start, hashAt);
        String hash = line.substring(hashAt + HASH.length(), end);
        if (!AuditLog.hash(hashed).equals(hash)) {
            return "it has been changed";
        }
        int previousStart = previousAt + PREVIOUS.length();
        String claimed = line.substring(previousStart, line.indexOf('"', previousStart));
        String expected = previous;
        boolean first = seq == 0;
        long expectedSeq = seq + 1;
        previous = hash;
        seq = parse(line.substring(start + BEGINNING.length(), previousAt));
        if (claimed.isEmpty() && seq == 1) {
            return null;
        }
        if (first && !claimed.isEmpty()) {
            return seq == 1 ? "it is the first of a chain, but names a line before it" : null;
        }
        return claimed.equals(expected) && seq == expectedSeq
                ? null
                : "lines before it are missing, or it has been moved (expected seq " + expectedSeq + ", found " + seq
                        + ")";
    }

    /** The number of the newest line; 0 if there is none. */
    public long seq() {
        return seq;
    }

    /** The hash of the newest line; empty if there is none. */
    public String hash() {
        return previous;
    }

    private static long parse(String digits) {
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException wrong) {
            return -1;
        }
    }
}
