package io.journalq.chaos;

import io.journalq.chaos.hostile.MetricsSampler;
import io.journalq.chaos.hostile.ProcessUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Resources of a broker process at one moment.
 *
 * @param values one for each of {@link #COLUMNS}
 */
record SoakSample(List<Double> values) {
    /** The columns. Memory is in KiB. The heap is what remains after a full collection. */
    static final List<String> COLUMNS = List.of(
            "rss_kib",
            "heap_kib",
            "non_heap_kib",
            "direct_kib",
            "file_handles",
            "threads",
            "connections",
            "processor_s");

    private static final double BYTES_PER_KIB = 1024;
    private static final int COLLECTION_LIMIT_SECONDS = 60;

    /** Samples a process of this machine, from {@code /proc} and its metrics page. */
    static SoakSample of(long pid, MetricsSampler metrics) throws IOException, InterruptedException {
        Process collection = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(pid),
                        "GC.run")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!collection.waitFor(COLLECTION_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            collection.destroyForcibly();
        }
        MetricsSampler.Sample page = metrics.sample();
        Path proc = Path.of("/proc", Long.toString(pid));
        ProcessUse use = ProcessUse.of(pid);
        return new SoakSample(List.of(
                (double) use.residentKib(),
                page.sum("jvm_memory_used_bytes", "area=\"heap\"") / BYTES_PER_KIB,
                page.sum("jvm_memory_used_bytes", "area=\"nonheap\"") / BYTES_PER_KIB,
                (page.sum("journalq_buffers_direct_bytes") + page.sum("jvm_buffer_memory_used_bytes", "id=\"direct\""))
                        / BYTES_PER_KIB,
                count(proc.resolve("fd")),
                (double) ProcessUse.statusNumber(proc, "Threads:"),
                page.sum("journalq_network_connections"),
                use.processorSeconds()));
    }

    private static double count(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.count();
        }
    }

    /** The values, separated by commas. */
    String line() {
        return values.stream()
                .map(value -> String.format(Locale.ROOT, "%.0f", value))
                .collect(Collectors.joining(","));
    }
}
