package io.journalq.chaos.hostile;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Reads the metrics page of a broker. One thread. */
public final class MetricsSampler {
    private static final List<String> COUNTERS = List.of(
            "journalq_limits_reached_total",
            "journalq_network_read_suspensions_total",
            "journalq_network_read_yields_total",
            "journalq_network_small_reads_deferred_total",
            "journalq_batches_validated_off_loop_total",
            "journalq_network_connections_accepted_total",
            "journalq_network_connections_refused_total",
            "journalq_network_connections_over_limit_total",
            "journalq_network_accept_throttles_total",
            "journalq_network_accept_failures_total",
            "journalq_authentication_failures_total",
            "journalq_tls_handshakes_total",
            "journalq_tls_failures_total");
    private static final double BYTES_PER_MEGABYTE = 1e6;

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI uri;

    public MetricsSampler(int port) {
        uri = URI.create("http://127.0.0.1:" + port + "/metrics");
    }

    /** Values by metric name with labels. */
    public record Sample(Map<String, Double> values) {
        /** The sum of a metric over all its labels. */
        public double sum(String name) {
            return values.entrySet().stream()
                    .filter(entry ->
                            entry.getKey().equals(name) || entry.getKey().startsWith(name + "{"))
                    .mapToDouble(Map.Entry::getValue)
                    .sum();
        }

        /**
         * The sum of a metric over the series with a label.
         *
         * @param label the first label as the page shows it, such as {@code area="heap"}
         */
        public double sum(String name, String label) {
            return values.entrySet().stream()
                    .filter(entry -> entry.getKey().startsWith(name + "{" + label))
                    .mapToDouble(Map.Entry::getValue)
                    .sum();
        }

        public long heapMegabytes() {
            return (long) (sum("jvm_memory_used_bytes", "area=\"heap\"") / BYTES_PER_MEGABYTE);
        }

        public long directMegabytes() {
            return (long) (sum("journalq_buffers_direct_bytes") / BYTES_PER_MEGABYTE);
        }

        public long openConnections() {
            return (long) sum("journalq_network_connections");
        }

        /** The counters that have grown since an earlier sample, as text. */
        public String growthSince(Sample earlier) {
            List<String> grown = new ArrayList<>();
            values.forEach((name, value) -> {
                long growth = (long) (value - earlier.values.getOrDefault(name, 0.0));
                if (growth > 0 && COUNTERS.stream().anyMatch(name::startsWith)) {
                    grown.add(name.replaceAll("journalq_|network_|_total|\\{limit=\"|\"\\}", " ")
                                    .strip() + " " + growth);
                }
            });
            return grown.isEmpty() ? "none" : String.join(", ", grown);
        }
    }

    /** Reads the page now. */
    public Sample sample() throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(1)).build();
        Map<String, Double> values = new TreeMap<>();
        client.send(request, HttpResponse.BodyHandlers.ofLines()).body().forEach(line -> {
            int space = line.lastIndexOf(' ');
            if (!line.startsWith("#") && space > 0) {
                values.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
            }
        });
        return new Sample(values);
    }
}
