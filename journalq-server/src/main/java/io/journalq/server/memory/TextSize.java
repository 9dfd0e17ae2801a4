package io.journalq.server.memory;

/** The heap that the characters of a string use. Stateless. */
public final class TextSize {
    private static final char LAST_LATIN = 0xff;

    private TextSize() {}

    /** One byte for each character, or two if any character is beyond Latin-1 (compact strings). */
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
