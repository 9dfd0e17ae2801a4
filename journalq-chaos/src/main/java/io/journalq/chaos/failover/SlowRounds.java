package io.journalq.chaos.failover;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps what brokers have logged in rounds that took longer than their goal. One thread. */
final class SlowRounds {
    private final Path directory;
    private final Map<Path, Long> starts = new HashMap<>();
    private final List<String> measured = new ArrayList<>();

    /** @param directory gets one directory for each of these rounds; created with the first one */
    SlowRounds(Path directory) {
        this.directory = directory;
    }

    /** A round begins: what is in the logs now is not of interest. */
    void begin(List<Path> logs) throws IOException {
        starts.clear();
        measured.clear();
        for (Path log : logs) {
            starts.put(log, Files.size(log));
        }
    }

    /** Adds a line about the round. */
    void note(String line) {
        measured.add(line);
    }

    /** Keeps the logs since the round began, and the lines about it. Returns their directory. */
    Path keep(String name) throws IOException {
        Path kept = Files.createDirectories(directory.resolve(name));
        for (Map.Entry<Path, Long> start : starts.entrySet()) {
            try (InputStream log = Files.newInputStream(start.getKey())) {
                log.skipNBytes(start.getValue());
                Files.copy(log, kept.resolve(start.getKey().getFileName()));
            }
        }
        Files.write(kept.resolve("measured.txt"), measured);
        return kept;
    }
}
