package io.journalq.bench.measure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * Samples a broker from outside: the kernel's data about its process, its metrics, and its data directory. A value that
 * cannot be read is -1, and never fails the run. One thread.
 */
public final class BrokerSampler {
    private static final Duration METRICS_TIMEOUT = Duration.ofSeconds(2);
    private static final String HEAP = "jvm_memory_used_bytes{area=\"heap\"";
    private static final String DIRECT = "journalq_buffers_direct_bytes";

    private final long pid;
    private final Path dataDirectory;
    private final HttpRequest metrics;
    private final HttpClient http;
    private ProcessUsage last;
    private long lastNs;

    /**
     * Starts sampling.
     *
     * @param pid process id of the broker; below 1 if it is unknown
     * @param dataDirectory null if it is unknown
     * @param metricsAddress {@code host:port} of the metrics; null if there are none
     */
    public BrokerSampler(long pid, Path dataDirectory, String metricsAddress) {
        this.pid = pid;
        this.dataDirectory = dataDirectory;
        this.metrics = metricsAddress == null
                ? null
                : HttpRequest.newBuilder(URI.create("http://" + metricsAddress + "/metrics"))
                        .timeout(METRICS_TIMEOUT)
                        .build();
        this.http = metricsAddress == null
                ? null
                : HttpClient.newBuilder().connectTimeout(METRICS_TIMEOUT).build();
        this.last = ProcessUsage.of(pid);
        this.lastNs = System.nanoTime();
    }

    public BrokerSample sample() {
        ProcessUsage now = ProcessUsage.of(pid);
        long nowNs = System.nanoTime();
        double cpuPercent = pid < 1 ? -1 : 100.0 * (now.cpuNs() - last.cpuNs()) / Math.max(1, nowNs - lastNs);
        last = now;
        lastNs = nowNs;
        String page = page();
        return new BrokerSample(
                cpuPercent,
                pid < 1 ? -1 : now.residentBytes(),
                sum(page, HEAP),
                sum(page, DIRECT),
                openFiles(),
                pid < 1 ? -1 : ProcFile.number("/proc/" + pid + "/status", "Threads:"),
                diskBytes());
    }

    private String page() {
        if (metrics == null) {
            return null;
        }
        try {
            HttpResponse<String> response = http.send(metrics, HttpResponse.BodyHandlers.ofString());
            return response.statusCode() == 200 ? response.body() : null;
        } catch (IOException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** The sum of all samples whose name and labels start with {@code begin}. */
    private static long sum(String page, String begin) {
        if (page == null) {
            return -1;
        }
        return (long) page.lines()
                .filter(line -> line.startsWith(begin))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
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
        Process du = new ProcessBuilder("du", "-sk", directory.toString())
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
            long diskBytes) {}
}
