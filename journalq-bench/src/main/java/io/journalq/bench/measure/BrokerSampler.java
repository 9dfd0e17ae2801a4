package io.journalq.bench.measure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;

/**
 * Looks at a broker's process from outside: the kernel's view of it, its page of metrics, and its directory. What it cannot
 * see is -1, never a failed run. One thread.
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
     * Begins to look.
     *
     * @param pid below 1 when there is no process to be seen
     * @param dataDirectory null when it is not known
     * @param metricsAddress {@code host:port}; null when there is none
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
            HttpResponse<String> answer = http.send(metrics, HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 ? answer.body() : null;
        } catch (IOException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Of all lines whose name and labels begin so. */
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

    /** Blocks that are in use, not lengths: journals are laid out ahead of what is written. */
    public static long allocatedBytes(Path directory) throws IOException {
        Process du = new ProcessBuilder("du", "-sk", directory.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String line = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int digits = line.indexOf('\t');
        return digits < 0 ? -1 : Long.parseLong(line.substring(0, digits)) * 1024;
    }

    /**
     * A broker at one moment. What cannot be told is -1.
     *
     * @param cpuPercent of one core, since the sample before
     * @param residentBytes memory that the process holds
     * @param heapBytes used of the Java heap, as its metrics tell
     * @param directBytes held by network buffers outside of the heap, as its metrics tell
     * @param openFiles handles, sockets included
     * @param diskBytes that its data takes on the disk
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
