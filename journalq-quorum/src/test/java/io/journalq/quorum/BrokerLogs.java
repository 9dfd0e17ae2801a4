package io.journalq.quorum;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Prints what the brokers of a failed test have logged, because the directory of a test is deleted. */
final class BrokerLogs implements AfterEachCallback {
    private static final int MAX_LINES = 400;
    private static final int MAX_LINE_SIZE = 400;

    private final Supplier<Path> directory;

    /** @param directory that of a {@link ProcessCluster} */
    BrokerLogs(Supplier<Path> directory) {
        this.directory = directory;
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        if (context.getExecutionException().isEmpty()) {
            return;
        }
        try (Stream<Path> files = Files.list(directory.get())) {
            for (Path file : files.filter(file -> file.toString().endsWith(".log"))
                    .sorted()
                    .toList()) {
                print(context.getDisplayName(), file);
            }
        }
    }

    private static void print(String test, Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        int first = Math.max(0, lines.size() - MAX_LINES);
        StringBuilder text = new StringBuilder()
                .append(file.getFileName())
                .append(" of ")
                .append(test)
                .append(", from line ")
                .append(first + 1)
                .append(":\n");
        for (String line : lines.subList(first, lines.size())) {
            text.append(line, 0, Math.min(line.length(), MAX_LINE_SIZE)).append('\n');
        }
        System.err.print(text);
    }
}
