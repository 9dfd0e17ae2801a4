package io.journalq.bench.measure;

import io.journalq.bench.BenchException;
import java.util.List;

/** Finds a process of this machine by its number or by a part of its command line. Stateless. */
public final class ProcessFinder {
    private ProcessFinder() {}

    /** {@code wanted} is a process id, or text that the command line of exactly one other process holds. */
    public static long find(String wanted) {
        if (!wanted.isEmpty() && wanted.chars().allMatch(Character::isDigit)) {
            return Long.parseLong(wanted);
        }
        List<Long> found = ProcessHandle.allProcesses()
                .filter(process -> process.pid() != ProcessHandle.current().pid())
                .filter(process -> commandLine(process.pid()).contains(wanted))
                .map(ProcessHandle::pid)
                .toList();
        if (found.size() != 1) {
            throw new BenchException(
                    found.size() + " processes have '" + wanted + "' in their command lines",
                    "give --process a process id, or a text that only the broker's has");
        }
        return found.get(0);
    }

    private static String commandLine(long pid) {
        return String.join(" ", ProcFile.lines("/proc/" + pid + "/cmdline")).replace('\0', ' ');
    }
}
