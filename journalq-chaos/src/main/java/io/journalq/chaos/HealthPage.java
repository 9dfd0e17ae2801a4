package io.journalq.chaos;

import io.journalq.chaos.load.BrokerReports;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;

/** Reads the health page of a broker. One thread. */
final class HealthPage {
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI uri;

    HealthPage(int port) {
        uri = URI.create("http://127.0.0.1:" + port + "/health");
    }

    /** Whether the page lists {@code dataDirectory} as offline. False if there is no response. */
    boolean saysOffline(Path dataDirectory) throws InterruptedException {
        try {
            HttpResponse<String> response = client.send(
                    HttpRequest.newBuilder(uri).timeout(TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
            return BrokerReports.saysOffline(response.body(), dataDirectory);
        } catch (IOException noResponse) {
            return false;
        }
    }
}
