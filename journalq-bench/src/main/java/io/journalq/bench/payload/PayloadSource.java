package io.journalq.bench.payload;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Generates the content of messages. The same kind, size and index give the same bytes in every run, so that two brokers are
 * measured with the same input. Used by one thread at a time.
 */
@FunctionalInterface
public interface PayloadSource {
    void fill(int index, byte[] message, int from);

    /** The seed of random content, which is the same in every run. */
    long SEED = 0x6a6f75726e616cL;

    /** The kinds that {@link #of} accepts, for help texts. */
    String KINDS = "text, random, json or file:PATH";

    /**
     * Returns the source of a kind.
     *
     * @param kind {@code text}: structured log lines, which lz4 compresses about 32 times in batches of 100 messages of 1
     *     KiB; {@code random}: bytes that do not compress; {@code json}: documents, see {@link JsonDocuments}; {@code
     *     file:PATH}: the bytes of a file, which is read repeatedly
     */
    static PayloadSource of(String kind) {
        if (kind.startsWith("file:")) {
            return ofFile(Path.of(kind.substring("file:".length())));
        }
        return switch (kind.toLowerCase(Locale.ROOT)) {
            case "text" -> new LogLines();
            case "random" -> ofRandom(SEED);
            case "json" -> new JsonDocuments(SEED);
            default -> throw BenchException.wrongUsage("'" + kind + "' is not a kind of payload", "use " + KINDS);
        };
    }

    private static PayloadSource ofRandom(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return (index, message, from) -> {
            for (int at = from; at < message.length; at++) {
                message[at] = (byte) random.nextInt();
            }
        };
    }

    private static PayloadSource ofFile(Path path) {
        byte[] content;
        try {
            content = Files.readAllBytes(path);
        } catch (IOException | OutOfMemoryError e) {
            throw new BenchException(
                    "cannot read payload file " + path, "use a readable file that is smaller than the heap", e);
        }
        if (content.length == 0) {
            throw new BenchException("payload file " + path + " is empty", "use a file with content");
        }
        return (index, message, from) -> {
            int bodySizeBytes = message.length - from;
            int start = (int) ((long) index * bodySizeBytes % content.length);
            for (int at = 0; at < bodySizeBytes; at++) {
                message[from + at] = content[(start + at) % content.length];
            }
        };
    }

    /** Structured log lines of a service: mostly equal text with a few different fields. */
    final class LogLines implements PayloadSource {
        private static final String[] PATHS = {"/api/v1/orders", "/api/v1/carts", "/api/v1/users", "/api/v1/stock"};
        private static final String TAIL = "\"level\":\"INFO\",\"logger\":\"com.example.shop.http.AccessLog\","
                + "\"thread\":\"http-nio-8080-exec\",\"host\":\"shop-backend-7c9f\",\"zone\":\"eu-central-1a\","
                + "\"message\":\"request completed; response sent to the client and the connection kept alive\","
                + "\"userAgent\":\"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)\","
                + "\"labels\":{\"team\":\"checkout\",\"environment\":\"production\",\"release\":\"2026.11.3\"},";

        private final SplittableRandom random = new SplittableRandom(42);
        private final StringBuilder line = new StringBuilder();

        @Override
        public void fill(int index, byte[] message, int from) {
            int at = from;
            while (at < message.length) {
                byte[] text = nextLine(index).getBytes(StandardCharsets.ISO_8859_1);
                int lengthBytes = Math.min(text.length, message.length - at);
                System.arraycopy(text, 0, message, at, lengthBytes);
                at += lengthBytes;
            }
        }

        private String nextLine(int index) {
            line.setLength(0);
            line.append("{\"time\":\"2026-11-21T02:33:").append(10 + index / 1000 % 50);
            line.append('.')
                    .append(1000 + index % 1000)
                    .append("Z\",\"status\":")
                    .append(random.nextInt(20) == 0 ? 404 : 200);
            line.append(",\"path\":\"").append(PATHS[random.nextInt(PATHS.length)]);
            line.append("\",\"tookMs\":")
                    .append(random.nextInt(100))
                    .append(',')
                    .append(TAIL);
            while (line.length() < 1008) {
                line.append("\"span\":\"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\",");
            }
            line.setLength(1008);
            return line.append("\"end\":true}\n").toString();
        }
    }
}
