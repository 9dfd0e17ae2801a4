package io.journalq.server.folder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The process that holds a data folder, as the folder's lock file tells. Immutable.
 *
 * <p>The system gives process ids out again, so an id alone could name an innocent process after a restart of the
 * machine: the time of its start goes with it.
 *
 * @param processId as its own system counts
 * @param startedMs when it started, in milliseconds since 1970
 * @param address where clients on its machine reach it, {@code host:port}; null while it is starting
 * @param adminAddress of its health page, {@code host:port}; null when there is none, or while it is starting
 */
public record LockHolder(long processId, long startedMs, String address, String adminAddress) {
    private static final String LOCK_FILE = ".lock";

    /** More is not this program's. */
    private static final long MAX_FILE_BYTES = 4096;

    /** The system's clock ticks are coarse, and two readings of one start differ by as much. */
    private static final Duration START_TOLERANCE = Duration.ofSeconds(2);

    static Path fileIn(Path dataDirectory) {
        return dataDirectory.resolve(LOCK_FILE);
    }

    static LockHolder thisProcess() {
        ProcessHandle process = ProcessHandle.current();
        long startedMs =
                process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        return new LockHolder(process.pid(), startedMs, null, null);
    }

    LockHolder at(String clientAddress, String healthAddress) {
        return new LockHolder(processId, startedMs, clientAddress, healthAddress);
    }

    String text() {
        StringBuilder text = new StringBuilder();
        text.append("process=").append(processId).append('\n');
        text.append("started=").append(startedMs).append('\n');
        if (address != null) {
            text.append("admin=")
                    .append(adminAddress == null ? "" : adminAddress)
                    .append('\n');
            text.append("address=").append(address).append('\n');
        }
        return text.toString();
    }

    /**
     * What the lock file of a data folder says; whether that process still runs is another question. Not for the process
     * that holds the folder: reading the file would give up its lock.
     *
     * @return nothing when the folder was given back, never used, or its file makes no sense
     */
    public static Optional<LockHolder> read(Path dataDirectory) {
        String text;
        try {
            Path file = fileIn(dataDirectory);
            if (Files.size(file) > MAX_FILE_BYTES) {
                return Optional.empty();
            }
            text = Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException absent) {
            return Optional.empty();
        }
        Map<String, String> values = new HashMap<>();
        // A line without its end is still being written.
        String whole = text.substring(0, text.lastIndexOf('\n') + 1);
        for (String line : whole.split("\n", -1)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        try {
            String address = values.get("address");
            String admin = values.getOrDefault("admin", "");
            return Optional.of(new LockHolder(
                    Long.parseLong(values.getOrDefault("process", "")),
                    Long.parseLong(values.getOrDefault("started", "")),
                    address,
                    address == null || admin.isEmpty() ? null : admin));
        } catch (NumberFormatException unreadable) {
            return Optional.empty();
        }
    }

    /** The process, if it still runs and can be seen from here; one in another container cannot. */
    public Optional<ProcessHandle> process() {
        return ProcessHandle.of(processId).filter(ProcessHandle::isAlive).filter(this::startedThen);
    }

    private boolean startedThen(ProcessHandle process) {
        return process.info()
                .startInstant()
                .map(actual -> Duration.between(actual, Instant.ofEpochMilli(startedMs))
                                .abs()
                                .compareTo(START_TOLERANCE)
                        <= 0)
                .orElse(true);
    }

    /** The holder in a few words, for messages. */
    public String describe() {
        return "process " + processId + (address == null ? "" : " at " + address);
    }
}
