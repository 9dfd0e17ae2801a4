package io.journalq.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Reads text files of the kernel. A missing file reads as empty and never fails the run. Stateless. */
final class ProcFile {
    private ProcFile() {}

    static List<String> lines(String path) {
        try {
            return Files.readAllLines(Path.of(path));
        } catch (IOException | SecurityException e) {
            return List.of();
        }
    }

    /** The rest of the first line that starts with {@code key}, without spaces around it. */
    static Optional<String> value(String path, String key) {
        return lines(path).stream()
                .filter(line -> line.startsWith(key))
                .findFirst()
                .map(line -> line.substring(key.length()).trim());
    }

    /** As {@link #value}, as a number without its unit; 0 if there is none. */
    static long number(String path, String key) {
        return value(path, key).map(ProcFile::leadingNumber).orElse(0L);
    }

    private static long leadingNumber(String text) {
        long number = 0;
        for (int at = 0; at < text.length() && Character.isDigit(text.charAt(at)); at++) {
            number = number * 10 + Character.digit(text.charAt(at), 10);
        }
        return number;
    }
}
