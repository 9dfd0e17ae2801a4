package io.journalq.chaos.hostile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Resource use of a process of this machine, from {@code /proc}.
 *
 * @param residentKib resident memory
 * @param processorSeconds processor time of all threads since the start
 */
public record ProcessUse(long residentKib, double processorSeconds) {
    private static final double TICKS_PER_SECOND = 100;
    private static final int USER_TICKS_FIELD = 11;

    /** Samples a process. */
    public static ProcessUse of(long pid) throws IOException {
        Path proc = Path.of("/proc", Long.toString(pid));
        return new ProcessUse(statusNumber(proc, "VmRSS:"), processorSeconds(proc));
    }

    /** The number in a line of {@code status}, such as {@code VmRSS:}. */
    public static long statusNumber(Path proc, String name) throws IOException {
        for (String line : Files.readAllLines(proc.resolve("status"))) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.substring(name.length()).trim().split(" ", -1)[0]);
            }
        }
        throw new IOException("no line in /proc/<pid>/status begins with " + name);
    }

    private static double processorSeconds(Path proc) throws IOException {
        String stat = Files.readString(proc.resolve("stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return (Double.parseDouble(fields[USER_TICKS_FIELD]) + Double.parseDouble(fields[USER_TICKS_FIELD + 1]))
                / TICKS_PER_SECOND;
    }
}
