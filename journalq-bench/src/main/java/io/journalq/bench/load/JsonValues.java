package io.journalq.bench.load;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Finds the values of records in the lines of JSON that the HTTP gateway sends. Stateless. */
final class JsonValues {
    private static final byte[] VALUE = "\"value\":\"".getBytes(StandardCharsets.US_ASCII);

    /** The length of what stands before each value. */
    static final int PREFIX_BYTES = VALUE.length;

    private JsonValues() {}

    /** The index of the first byte of the next value; -1 if none begins before {@code end}. */
    static int next(byte[] bytes, int from, int end) {
        for (int i = from; i <= end - VALUE.length; i++) {
            if (bytes[i] == VALUE[0] && Arrays.equals(bytes, i, i + VALUE.length, VALUE, 0, VALUE.length)) {
                return i + VALUE.length;
            }
        }
        return -1;
    }
}
