package io.journalq.bench.output;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/** Where a scenario leaves its files. Stateless. */
public final class ResultDirectory {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    private ResultDirectory() {}

    /** {@code chosen}, or a new directory {@code bench-results/SCENARIO-TIME} when that is null; made when missing. */
    public static Path open(Path chosen, String scenario) {
        Path directory = chosen != null
                ? chosen
                : Path.of(
                        "bench-results",
                        scenario + "-"
                                + LocalDateTime.now(ZoneId.systemDefault()).format(TIME));
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new BenchException("cannot make directory " + directory, "give --results a directory that can be written", e);
        }
    }
}
