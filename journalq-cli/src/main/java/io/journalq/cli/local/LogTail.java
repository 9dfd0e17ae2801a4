package io.journalq.cli.local;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The lines that a broker has written to its log since a given moment. */
final class LogTail {
    private static final int MAX_TAIL_BYTES = 64 * 1024;
    private static final String SEPARATOR = " | ";

    private final Path file;
    private final long startPosition;

    /** Starts at the current end of the file. */
    LogTail(Path file) throws IOException {
        this.file = file;
        this.startPosition = Files.exists(file) ? Files.size(file) : 0;
    }

    /** Returns the last lines since then, at most {@code maxLines}, without their stack traces. */
    List<String> lastLines(int maxLines) throws IOException {
        if (!Files.exists(file)) {
            return List.of();
        }
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
            long length = log.length();
            // A log that has been rotated in the meantime is read from its beginning.
            long from = Math.max(length < startPosition ? 0 : startPosition, length - MAX_TAIL_BYTES);
            byte[] tail = new byte[(int) (length - from)];
            log.seek(from);
            log.readFully(tail);
            List<String> lines = new String(tail, StandardCharsets.UTF_8)
                    .lines()
                    .map(LogTail::withoutTrace)
                    .toList();
            return lines.subList(Math.max(0, lines.size() - maxLines), lines.size());
        }
    }

    /** The configuration of the log writes a stack trace into the line of its event, one frame after the other. */
    private static String withoutTrace(String line) {
        return Arrays.stream(line.split(Pattern.quote(SEPARATOR)))
                .filter(part -> !part.startsWith("at ") && !part.startsWith("... "))
                .collect(Collectors.joining(SEPARATOR));
    }
}
