package io.journalq.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The resources that a process has used since its start, from {@code /proc/<pid>}.
 *
 * @param cpuNs processor time of all threads, user and system, in steps of 10 ms
 * @param residentBytes resident memory
 * @param maxResidentBytes highest resident memory so far
 * @param writtenBytes bytes written to storage, counted when pages become dirty
 */
public record ProcessUsage(long cpuNs, long residentBytes, long maxResidentBytes, long writtenBytes) {
    /** The kernel reports processor time to user space in hundredths of a second. */
    private static final long NANOS_PER_TICK = 10_000_000L;

    /** Tells the kernel to reset the peak of resident memory to the current value. */
    private static final String RESET_PEAK = "5";

    private static final ProcessUsage NONE = new ProcessUsage(0, 0, 0, 0);

    /** Samples a process. All values are zero if it cannot be read, or if {@code pid} is below 1. */
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
     * Resets {@link #maxResidentBytes} to the current value. The kernel permits that for processes of the same user only;
     * for others, the value stays the maximum since the start of the process.
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
        // The second field is the program's name in brackets. It may contain spaces and brackets.
        String line = stat.get(0);
        String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }
}
