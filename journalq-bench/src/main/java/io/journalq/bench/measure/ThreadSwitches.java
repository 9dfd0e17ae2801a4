package io.journalq.bench.measure;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** How often the threads of a process gave up a processor, from {@code /proc/<pid>/task}. One thread. */
final class ThreadSwitches {
    /**
     * The switches of an interval.
     *
     * @param waits a thread had nothing to do, and was woken later
     * @param preemptions the kernel gave the processor to another thread
     */
    record Count(long waits, long preemptions) {}

    private final Map<String, Count> byThread = new HashMap<>();

    /** The switches of each thread since its start. Empty if the process cannot be read, or if {@code pid} is below 1. */
    static ThreadSwitches of(long pid) {
        ThreadSwitches switches = new ThreadSwitches();
        if (pid < 1) {
            return switches;
        }
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads) {
                String status = thread.resolve("status").toString();
                switches.byThread.put(
                        thread.getFileName().toString(),
                        new Count(
                                ProcFile.number(status, "voluntary_ctxt_switches:"),
                                ProcFile.number(status, "nonvoluntary_ctxt_switches:")));
            }
        } catch (IOException e) {
            switches.byThread.clear();
        }
        return switches;
    }

    /** The switches since {@code before}, of the threads that run now. */
    Count since(ThreadSwitches before) {
        long waits = 0;
        long preemptions = 0;
        for (Map.Entry<String, Count> thread : byThread.entrySet()) {
            Count start = before.byThread.getOrDefault(thread.getKey(), new Count(0, 0));
            waits += thread.getValue().waits() - start.waits();
            preemptions += thread.getValue().preemptions() - start.preemptions();
        }
        return new Count(waits, preemptions);
    }
}
