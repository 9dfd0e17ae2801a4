package io.journalq.bench.measure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.stream.Stream;

/** The metrics of a broker, in the Prometheus format. A page that cannot be read never fails the run. One thread. */
public final class MetricsPage {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final String BOUND = "le=\"";

    private final HttpRequest request;
    private final HttpClient http;
    private String text;

    /** {@code address} is the {@code host:port} of the metrics; null if there are none. */
    public MetricsPage(String address) {
        this.request = address == null
                ? null
                : HttpRequest.newBuilder(URI.create("http://" + address + "/metrics"))
                        .timeout(TIMEOUT)
                        .build();
        this.http = address == null
                ? null
                : HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
    }

    /** Reads the current values. */
    public void load() {
        text = null;
        if (request == null) {
            return;
        }
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            text = response.statusCode() == 200 ? response.body() : null;
        } catch (IOException e) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The sum of all samples whose name and labels start with {@code begin}; -1 if the page could not be read. */
    public long sum(String begin) {
        return sum(begin, "");
    }

    /** The bounds of a histogram's buckets in seconds, from the lowest to infinity; none if the page could not be read. */
    Stream<Double> bounds(String buckets) {
        return buckets(buckets).map(MetricsPage::bound).distinct().sorted();
    }

    /** How many values of a histogram are at most {@code boundS}, which is one of its bounds; 0 if it could not be read. */
    long upTo(String buckets, double boundS) {
        return (long) buckets(buckets)
                .filter(line -> bound(line) == boundS)
                .mapToDouble(MetricsPage::value)
                .sum();
    }

    private Stream<String> buckets(String name) {
        return text == null ? Stream.of() : text.lines().filter(line -> line.startsWith(name));
    }

    private static double bound(String line) {
        int start = line.indexOf(BOUND) + BOUND.length();
        String bound = line.substring(start, line.indexOf('"', start));
        return bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound);
    }

    private static double value(String line) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
    }

    /** As {@link #sum(String)}, of the samples that also contain {@code label}. */
    long sum(String begin, String label) {
        if (text == null) {
            return -1;
        }
        return (long) text.lines()
                .filter(line -> line.startsWith(begin) && line.contains(label))
                .mapToDouble(MetricsPage::value)
                .sum();
    }
}
