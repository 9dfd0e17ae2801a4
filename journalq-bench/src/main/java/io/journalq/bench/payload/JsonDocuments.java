package io.journalq.bench.payload;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Synthetic orders of a shop as JSON documents. Names repeat and values do not, so they compress like documents of real
 * services. Each document has exactly the requested size: as many members as fit, and a note that fills the rest. The same
 * seed generates the same documents. Used by one thread at a time.
 */
public final class JsonDocuments implements PayloadSource {
    /** Room for the longest number and an empty note. */
    public static final int MIN_SIZE_BYTES = 40;

    private static final String NOTE = ",\"note\":\"";
    private static final String END = "\"}";
    private static final String[] NAMES = {"Ada", "Grace", "Edsger", "Barbara", "Donald", "Leslie", "Radia", "Tony"};
    private static final String[] CITIES = {"Berlin", "Porto", "Gdansk", "Lyon", "Turku", "Graz", "Cork", "Bilbao"};
    private static final String[] WORDS = {
        "please",
        "ring",
        "twice",
        "leave",
        "parcel",
        "with",
        "neighbour",
        "gift",
        "wrapped",
        "before",
        "noon",
        "fragile"
    };
    private static final String HEXADECIMAL = "0123456789abcdef";

    private final SplittableRandom random;
    private final StringBuilder text = new StringBuilder();
    private final StringBuilder member = new StringBuilder();

    public JsonDocuments(long seed) {
        random = new SplittableRandom(seed);
    }

    /** Writes an empty document if there is no room for another one. Spaces after a document are valid JSON. */
    @Override
    public void fill(int index, byte[] message, int from) {
        int sizeBytes = message.length - from;
        String document = sizeBytes < MIN_SIZE_BYTES ? "{}" : document(index, sizeBytes);
        byte[] bytes = document.getBytes(StandardCharsets.US_ASCII);
        int lengthBytes = Math.min(bytes.length, sizeBytes);
        System.arraycopy(bytes, 0, message, from, lengthBytes);
        Arrays.fill(message, from + lengthBytes, message.length, (byte) ' ');
    }

    /**
     * A document in one line of ASCII characters.
     *
     * @param number part of the document, so that no two documents are equal
     * @param sizeBytes exact size of the document, at least {@link #MIN_SIZE_BYTES}
     */
    public String document(long number, int sizeBytes) {
        text.setLength(0);
        text.append("{\"order\":").append(number);
        int room = sizeBytes - NOTE.length() - END.length();
        boolean fits = add(room, identity())
                && add(room, customer())
                && add(room, ",\"placedMs\":" + (1_795_000_000_000L + random.nextInt(1_000_000_000)))
                && add(room, ",\"paid\":" + random.nextBoolean());
        if (fits && add(room, ",\"items\":[" + item() + "]")) {
            while (addItem(room)) {
                text.append(']');
            }
        }
        text.append(NOTE);
        while (text.length() < sizeBytes - END.length()) {
            text.append(WORDS[random.nextInt(WORDS.length)]).append(' ');
        }
        text.setLength(sizeBytes - END.length());
        return text.append(END).toString();
    }

    private boolean add(int room, CharSequence what) {
        boolean fits = text.length() + what.length() <= room;
        if (fits) {
            text.append(what);
        }
        return fits;
    }

    /** Replaces the closing bracket of the list with another item. The caller closes the list again. */
    private boolean addItem(int room) {
        String item = "," + item();
        if (text.length() + item.length() > room) {
            return false;
        }
        text.setLength(text.length() - 1);
        text.append(item);
        return true;
    }

    private CharSequence identity() {
        member.setLength(0);
        member.append(",\"id\":\"");
        for (int i = 0; i < 32; i++) {
            member.append(HEXADECIMAL.charAt(random.nextInt(HEXADECIMAL.length())));
        }
        return member.append('"');
    }

    private CharSequence customer() {
        member.setLength(0);
        return member.append(",\"customer\":{\"number\":")
                .append(random.nextInt(10_000_000))
                .append(",\"name\":\"")
                .append(NAMES[random.nextInt(NAMES.length)])
                .append("\",\"city\":\"")
                .append(CITIES[random.nextInt(CITIES.length)])
                .append("\"}");
    }

    private String item() {
        member.setLength(0);
        return member.append("{\"article\":")
                .append(random.nextInt(100_000))
                .append(",\"count\":")
                .append(1 + random.nextInt(9))
                .append(",\"cents\":")
                .append(random.nextInt(50_000))
                .append('}')
                .toString();
    }
}
