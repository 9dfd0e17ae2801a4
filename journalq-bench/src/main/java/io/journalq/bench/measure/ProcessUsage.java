package io.journalq.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A process at one moment, from {@code /proc/<pid>}: what it has used since its start.
 *
 * @param cpuNs time on a processor, user and system, all threads; in steps of 10 ms as the kernel counts it
 * @param residentBytes memory that it holds now
 * @param maxResidentBytes the most that it ever held
 * @param writtenBytes what it caused to be written to storage, counted when pages become dirty
 */
public record ProcessUsage(long cpuNs, long residentBytes, long maxResidentBytes, long writtenBytes) {
    /** The kernel reports to user space in hundredths of a second, whatever it counts in itself. */
    private static final long NANOS_PER_TICK = 10_000_000L;

    /** To the kernel: reset the peak of resident memory to what it is now. */
    private static final String RESET_PEAK = "5";

    private static final ProcessUsage NONE = new ProcessUsage(0, 0, 0, 0);

    /** Samples a process; all zero when there is none or it cannot be seen. {@code pid} below 1 means none. */
    public static ProcessUsage of(long pid) {
        if (pid < 1) {
            return NONE;
        }
        String directory = "/proc/" + pid;
        return new ProcessUsage(
                cpuTicks(ProcFile.lines(directory + "/stat")) * NANOS_PER_TICK,
                ProcFile.number(directory + "/status", "VmRSS:") * 1024,
                ProcFile.number(directory + "/status", "VmHWM:") * 1024,
                ProcFile.number(directory + "/io", "write_bytes:"));
    }

    /**
     * Lets {@link #maxResidentBytes} begin anew, where the kernel allows that: for processes of the same user. Otherwise
     * it stays the most since the process began.
     */
    public static void forgetMaximum(long pid) {
        if (pid < 1) {
            return;
        }
        try {
            Files.writeString(Path.of("/proc/" + pid + "/clear_refs"), RESET_PEAK);
        } catch (IOException | SecurityException notAllowed) {
            return;
        }
    }

    private static long cpuTicks(List<String> stat) {
        if (stat.isEmpty()) {
            return 0;
        }
        // The second field is the program's name in brackets and may hold anything, spaces and brackets too.
        String line = stat.get(0);
        String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
}
