package io.journalq.bench.output;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/** Where a scenario leaves its files. Stateless. */
public final class ResultFolder {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    private ResultFolder() {}

    /** {@code chosen}, or a new folder {@code bench-results/SCENARIO-TIME} when that is null; made when missing. */
    public static Path open(Path chosen, String scenario) {
        Path folder = chosen != null
                ? chosen
                : Path.of(
                        "bench-results",
                        scenario + "-"
                                + LocalDateTime.now(ZoneId.systemDefault()).format(TIME));
        try {
            return Files.createDirectories(folder);
        } catch (IOException e) {
            throw new BenchException("cannot make folder " + folder, "give --results a folder that can be written", e);
        }
    }
}
