package io.journalq.bench.measure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

/** The metrics of a broker, in the Prometheus format. A page that cannot be read never fails the run. One thread. */
public final class MetricsPage {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

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

    /** As {@link #sum(String)}, of the samples that also contain {@code label}. */
    long sum(String begin, String label) {
        if (text == null) {
            return -1;
        }
        return (long) text.lines()
                .filter(line -> line.startsWith(begin) && line.contains(label))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
