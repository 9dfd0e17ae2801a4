package io.journalq.server.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Remembers which process is a broker: its id on the first line, when it started on the second. The system gives ids out
 * again, so an id alone could name an innocent process after a restart of the machine.
 */
final class PidFile {
    /** The system's clock ticks are coarse, and two readings of one start differ by as much. */
    private static final Duration START_TOLERANCE = Duration.ofSeconds(2);

    private final Path file;

    PidFile(Path dataDirectory) {
        this.file = dataDirectory.resolve("journalq.pid");
    }

    /** Remembers a process. */
    void write(ProcessHandle process) throws IOException {
        Instant start = process.info().startInstant().orElse(Instant.EPOCH);
        Files.writeString(file, process.pid() + "\n" + start.toEpochMilli() + "\n");
    }

    /** The process, if it still runs. */
    Optional<ProcessHandle> runningProcess() {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException absent) {
            return Optional.empty();
        }
        try {
            Instant start = Instant.ofEpochMilli(Long.parseLong(lines.get(1)));
            return ProcessHandle.of(Long.parseLong(lines.get(0)))
                    .filter(ProcessHandle::isAlive)
                    .filter(process -> startedAt(process, start));
        } catch (IndexOutOfBoundsException | NumberFormatException torn) {
            return Optional.empty();
        }
    }

    private static boolean startedAt(ProcessHandle process, Instant start) {
        return process.info()
                .startInstant()
                .map(actual -> Duration.between(actual, start).abs().compareTo(START_TOLERANCE) <= 0)
                .orElse(true);
    }

    /** Forgets the process. */
    void delete() throws IOException {
        Files.deleteIfExists(file);
    }

    @Override
    public String toString() {
        return file.toString();
    }
}
