package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.payload.JsonDocuments;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Generates files with one JSON document per line, and compares files regardless of the order of lines. Stateless. */
final class JsonLines {
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static final long NUMBERS_OF_A_SENDER = 1_000_000_000_000L;
    private static final int FIRST_LINES = 1 << 10;

    private JsonLines() {}

    /**
     * The difference between the sent and the received lines.
     *
     * @param missing number of lines that were sent and not received
     * @param extra number of lines that were received and not sent, or received more often than sent
     */
    record Difference(long missing, long extra) {
        boolean isNone() {
            return missing == 0 && extra == 0;
        }
    }

    /** Writes distinct documents of {@code sizeBytes} each, or of the minimum size if that is larger. */
    static void write(Path file, int sender, long count, int sizeBytes) {
        JsonDocuments documents = new JsonDocuments(sender);
        int documentBytes = Math.max(sizeBytes, JsonDocuments.MIN_SIZE_BYTES);
        try (Writer out = Files.newBufferedWriter(file)) {
            for (long number = 0; number < count; number++) {
                out.append(documents.document(sender * NUMBERS_OF_A_SENDER + number, documentBytes))
                        .append('\n');
            }
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "use --results with a directory that has free space", e);
        }
    }

    /** The sorted hashes of all lines. */
    static long[] hashes(Path file) {
        long[] hashes = new long[FIRST_LINES];
        int count = 0;
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (count == hashes.length) {
                    hashes = Arrays.copyOf(hashes, count * 2);
                }
                hashes[count++] = hash(line);
            }
        } catch (IOException e) {
            throw new BenchException("cannot read " + file, "use a text file in UTF-8", e);
        }
        long[] sorted = Arrays.copyOf(hashes, count);
        Arrays.sort(sorted);
        return sorted;
    }

    private static long hash(String line) {
        long hash = FNV_OFFSET;
        for (byte one : line.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ one) * FNV_PRIME;
        }
        return hash;
    }

    /** Compares sorted hashes. */
    static Difference compare(long[] sent, long[] received) {
        long missing = 0;
        long extra = 0;
        int left = 0;
        int right = 0;
        while (left < sent.length || right < received.length) {
            if (right == received.length || (left < sent.length && sent[left] < received[right])) {
                missing++;
                left++;
            } else if (left == sent.length || sent[left] > received[right]) {
                extra++;
                right++;
            } else {
                left++;
                right++;
            }
        }
        return new Difference(missing, extra);
    }
}
