package io.journalq.server.memory;

/** What the characters of a text take of the heap. Stateless. */
public final class TextSize {
    private static final char LAST_LATIN = 0xff;

    private TextSize() {}

    /** One byte for each character, or two if any of them is beyond Latin-1, as Java keeps them. */
    public static int bytes(String text) {
        int length = text.length();
        for (int i = 0; i < length; i++) {
            if (text.charAt(i) > LAST_LATIN) {
                return 2 * length;
            }
        }
        return length;
    }
}
