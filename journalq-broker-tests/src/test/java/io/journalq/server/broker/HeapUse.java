package io.journalq.server.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The live objects on the heap of a process. Sizes come from its class histogram: what the JVM reports as used includes
 * whole regions that allocations since the last collection have begun. Stateless.
 */
final class HeapUse {
    /** Objects with pending cleaners are released by the second collection. */
    private static final int COLLECTIONS = 3;

    private HeapUse() {}

    /** Bytes of all objects that survive a full collection. */
    static long liveBytes(long processId) throws IOException, InterruptedException {
        List<String> lines = List.of();
        for (int i = 0; i < COLLECTIONS; i++) {
            lines = histogram(processId);
        }
        // The last line is "Total", the number of instances, and their bytes.
        String total = lines.get(lines.size() - 1);
        return Long.parseLong(total.substring(total.lastIndexOf(' ') + 1));
    }

    /** The classes of all objects that survive a full collection, those with the most bytes first. */
    static List<String> histogram(long processId) throws IOException, InterruptedException {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        // Not a pipe: from Java 25 on, a process stands still until its histogram is written, and can be this one.
        Path output = Files.createTempFile("histogram", ".txt");
        try {
            Process process = new ProcessBuilder(jcmd.toString(), String.valueOf(processId), "GC.class_histogram")
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (process.waitFor() != 0) {
                throw new IOException("no histogram of process " + processId + ": " + Files.readString(output));
            }
            return Files.readAllLines(output);
        } finally {
            Files.delete(output);
        }
    }
}
