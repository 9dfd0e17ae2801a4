package io.journalq.server.gateway.consume;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.problem.ProblemException;
import java.util.Map;
import java.util.TreeMap;

/**
 * The position of a reader as text: {@code partition:offset}, separated by commas. At the end of a cursor, {@code
 * only} says that its reader reads no other partitions. Without it, partitions that were added to the topic belong to
 * it, too.
 */
public final class Cursor {
    private static final int MAX_NUMBER_DIGITS = 18;
    private static final String ONLY = ",only";

    private Cursor() {}

    /** Whether the reader of the cursor reads no other partitions than those of the cursor. */
    static boolean isOnly(String text) {
        return text.endsWith(ONLY);
    }

    /** The cursor without the mark of {@link #isOnly}. */
    static String withoutOnly(String text) {
        return isOnly(text) ? text.substring(0, text.length() - ONLY.length()) : text;
    }

    /** The offset of each partition. */
    public static Map<Integer, Long> parse(String text) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (String position : text.split(",", -1)) {
            int colon = position.indexOf(':');
            if (colon < 0) {
                throw invalid();
            }
            long partition = number(position.substring(0, colon));
            long offset = number(position.substring(colon + 1));
            if (partition > Integer.MAX_VALUE || offsets.put((int) partition, offset) != null) {
                throw invalid();
            }
        }
        return offsets;
    }

    public static String format(Map<Integer, Long> offsets) {
        StringBuilder text = new StringBuilder();
        offsets.forEach((partition, offset) -> text.append(text.isEmpty() ? "" : ",")
                .append(partition)
                .append(':')
                .append(offset));
        return text.toString();
    }

    /** The same, for a reader that reads no other partitions. */
    static String formatOnly(Map<Integer, Long> offsets) {
        return format(offsets) + ONLY;
    }

    private static long number(String text) {
        if (text.isEmpty() || text.length() > MAX_NUMBER_DIGITS || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            throw invalid();
        }
        return Long.parseLong(text);
    }

    private static ProblemException invalid() {
        return HttpExchange.invalid("the cursor is malformed", "send the cursor of the last line of a response");
    }
}
