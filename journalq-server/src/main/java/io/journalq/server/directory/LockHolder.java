package io.journalq.server.directory;

import io.journalq.server.journal.file.SystemFileStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The process that holds a data directory, as named in the lock file of the directory. Immutable.
 *
 * <p>The operating system reuses process ids. After a restart of the machine, the id could belong to an unrelated
 * process. The start time of the process is therefore stored with the id. On Linux, that is its time since the system
 * was booted, because the time of day changes when the clock of the machine is corrected.
 *
 * @param processId id of the process in its own system
 * @param startedMs start time of the process, in milliseconds since 1970
 * @param birth the boot of the system, and the time since then at which the process started; null if it is not known
 * @param address where clients on its machine reach it, {@code host:port}; null while it is starting
 * @param openAddresses the addresses that other machines can reach, separated by commas; empty for none, or while it is
 *     starting
 * @param adminAddress of its health page, {@code host:port} or {@code https://host:port}; null when there is none, or
 *     while it is starting
 */
public record LockHolder(
        long processId, long startedMs, String birth, String address, String openAddresses, String adminAddress) {
    private static final String LOCK_FILE = ".lock";

    /** A larger file was not written by this program. */
    private static final long MAX_FILE_BYTES = 4096;

    /** Index of the start time of a process among its {@link #statusOf}. */
    private static final int START_TIME = 19;

    private static final String ENDED = "Z";

    /** The system's clock ticks are coarse: two readings of the same start time can differ by this much. */
    private static final Duration START_TOLERANCE = Duration.ofSeconds(2);

    static Path fileIn(Path dataDirectory) {
        return dataDirectory.resolve(LOCK_FILE);
    }

    static LockHolder thisProcess() {
        ProcessHandle process = ProcessHandle.current();
        long startedMs =
                process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        return new LockHolder(process.pid(), startedMs, birthOf(process), null, "", null);
    }

    LockHolder at(String clientAddress, String reachableAddresses, String healthAddress) {
        return new LockHolder(processId, startedMs, birth, clientAddress, reachableAddresses, healthAddress);
    }

    String text() {
        StringBuilder text = new StringBuilder();
        text.append("process=").append(processId).append('\n');
        text.append("started=").append(startedMs).append('\n');
        if (birth != null) {
            text.append("birth=").append(birth).append('\n');
        }
        if (address != null) {
            text.append("open=").append(openAddresses).append('\n');
            text.append("admin=")
                    .append(adminAddress == null ? "" : adminAddress)
                    .append('\n');
            text.append("address=").append(address).append('\n');
        }
        return text.toString();
    }

    /**
     * Reads the lock file of a data directory. The process in it may have ended since. Must not be called by the
     * process that holds the directory, because closing the file would release its lock.
     *
     * @return empty when the directory was released or never used, or when the file cannot be parsed
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
                    values.get("birth"),
                    address,
                    address == null ? "" : values.getOrDefault("open", ""),
                    address == null || admin.isEmpty() ? null : admin));
        } catch (NumberFormatException unreadable) {
            return Optional.empty();
        }
    }

    /** The process, if it still runs and is visible from here. A process in another container is not visible. */
    public Optional<ProcessHandle> process() {
        return ProcessHandle.of(processId)
                .filter(ProcessHandle::isAlive)
                .filter(this::startedThen)
                .filter(process -> !hasEnded(process));
    }

    /**
     * Whether a process has ended, and only its parent has not asked for its exit code yet. Java counts such a process as
     * alive. Where the first process of a container does not ask, it stays until the container ends.
     */
    private static boolean hasEnded(ProcessHandle process) {
        List<String> status = statusOf(process);
        return !status.isEmpty() && status.get(0).equals(ENDED);
    }

    /** What Linux says about a process, from its state on; empty if the system does not say that. */
    private static List<String> statusOf(ProcessHandle process) {
        try {
            String text = Files.readString(
                    Path.of("/proc", Long.toString(process.pid()), "stat"), StandardCharsets.ISO_8859_1);
            // The name before the state is in parentheses, and may contain parentheses and spaces itself.
            return List.of(text.substring(text.lastIndexOf(')') + 1).strip().split(" ", -1));
        } catch (IOException endedOrNotLinux) {
            return List.of();
        }
    }

    private static String birthOf(ProcessHandle process) {
        List<String> status = statusOf(process);
        String bootId = new SystemFileStore().bootId();
        return bootId == null || status.size() <= START_TIME ? null : bootId + "/" + status.get(START_TIME);
    }

    private boolean startedThen(ProcessHandle process) {
        String actualBirth = birth == null ? null : birthOf(process);
        if (actualBirth != null) {
            return actualBirth.equals(birth);
        }
        return process.info()
                .startInstant()
                .map(actual -> Duration.between(actual, Instant.ofEpochMilli(startedMs))
                                .abs()
                                .compareTo(START_TOLERANCE)
                        <= 0)
                .orElse(true);
    }

    /** Describes the holder in a few words, for messages. */
    public String describe() {
        return "process " + processId + (address == null ? "" : " at " + address);
    }
}
