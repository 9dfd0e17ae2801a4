package io.journalq.bench.measure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Samples a broker from outside: the kernel's data about its process, its metrics, and its data directory. A value that
 * cannot be read is -1, and never fails the run. One thread.
 */
public final class BrokerSampler {
    private static final String HEAP = "jvm_memory_used_bytes{area=\"heap\"";
    private static final String DIRECT = "journalq_buffers_direct_bytes";

    private final long pid;
    private final Path dataDirectory;
    private final MetricsPage metrics;
    private ProcessUsage last;
    private long lastNs;

    /** Starts sampling. */
    public BrokerSampler(BrokerNode node) {
        this.pid = node.pid();
        this.dataDirectory = node.dataDirectory();
        this.metrics = new MetricsPage(node.metricsAddress());
        this.last = ProcessUsage.of(pid);
        this.lastNs = System.nanoTime();
    }

    public BrokerSample sample() {
        ProcessUsage now = ProcessUsage.of(pid);
        long nowNs = System.nanoTime();
        double cpuPercent = pid < 1 ? -1 : 100.0 * (now.cpuNs() - last.cpuNs()) / Math.max(1, nowNs - lastNs);
        last = now;
        lastNs = nowNs;
        metrics.load();
        return new BrokerSample(
                cpuPercent,
                pid < 1 ? -1 : now.residentBytes(),
                metrics.sum(HEAP),
                metrics.sum(DIRECT),
                openFiles(),
                pid < 1 ? -1 : ProcFile.number("/proc/" + pid + "/status", "Threads:"),
                diskBytes());
    }

    private long openFiles() {
        if (pid < 1) {
            return -1;
        }
        try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return files.count();
        } catch (IOException e) {
            return -1;
        }
    }

    private long diskBytes() {
        try {
            return dataDirectory == null ? -1 : allocatedBytes(dataDirectory);
        } catch (IOException e) {
            return -1;
        }
    }

    /** The disk space that the files occupy, which may differ from their lengths; -1 if it is unknown. */
    public static long allocatedBytes(Path directory) throws IOException {
        return allocated("du", "-sk", directory.toString());
    }

    /** As {@link #allocatedBytes(Path)}, without the directories below it that have a certain name. */
    public static long allocatedBytes(Path directory, String exceptName) throws IOException {
        return allocated("du", "-sk", "--exclude=" + exceptName, directory.toString());
    }

    private static long allocated(String... command) throws IOException {
        Process du = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String line = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int digits = line.indexOf('\t');
        return digits < 0 ? -1 : Long.parseLong(line.substring(0, digits)) * 1024;
    }

    /**
     * The state of a broker. A value is -1 if it is unknown.
     *
     * @param cpuPercent processor time since the previous sample, in percent of one core
     * @param residentBytes resident memory of the process
     * @param heapBytes used Java heap, from the broker's metrics
     * @param directBytes network buffers outside of the heap, from the broker's metrics
     * @param openFiles open file handles, including sockets
     * @param diskBytes disk space that the data directory occupies
     */
    public record BrokerSample(
            double cpuPercent,
            long residentBytes,
            long heapBytes,
            long directBytes,
            long openFiles,
            long threads,
            long diskBytes) {

        /** The state of several processes together. A value is unknown if that of one of them is. */
        public static BrokerSample sum(List<BrokerSample> samples) {
            return new BrokerSample(
                    samples.stream()
                            .mapToDouble(BrokerSample::cpuPercent)
                            .reduce(0, (a, b) -> a < 0 || b < 0 ? -1 : a + b),
                    sum(samples, BrokerSample::residentBytes),
                    sum(samples, BrokerSample::heapBytes),
                    sum(samples, BrokerSample::directBytes),
                    sum(samples, BrokerSample::openFiles),
                    sum(samples, BrokerSample::threads),
                    sum(samples, BrokerSample::diskBytes));
        }

        private static long sum(List<BrokerSample> samples, ToLongFunction<BrokerSample> value) {
            return samples.stream().mapToLong(value).reduce(0, (a, b) -> a < 0 || b < 0 ? -1 : a + b);
        }
    }
}
