package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Reads server-sent events with Java's HTTP client, as the HTML standard says. */
final class EventReader implements AutoCloseable {
    private final HttpResponse<InputStream> response;
    private final BufferedReader lines;

    /**
     * An event.
     *
     * @param name null if it has none
     * @param id null if it has none
     * @param data null if it has none
     */
    record Event(String name, String id, String data) {}

    private EventReader(HttpResponse<InputStream> response) {
        this.response = response;
        this.lines = new BufferedReader(new InputStreamReader(response.body(), UTF_8));
    }

    /** @param lastEventId null or empty for none */
    static EventReader open(GatewayClient gateway, String path, String lastEventId)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = gateway.request(path).header("Accept", "text/event-stream");
        if (lastEventId != null && !lastEventId.isEmpty()) {
            request.header("Last-Event-ID", lastEventId);
        }
        HttpResponse<InputStream> response = gateway.stream(request);
        assertThat(response.statusCode()).isEqualTo(200);
        return new EventReader(response);
    }

    HttpResponse<InputStream> response() {
        return response;
    }

    /** The next event, which may have no data; null at the end of the stream. */
    Event next() throws IOException {
        String name = null;
        String id = null;
        String data = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.isEmpty() && (id != null || data != null)) {
                return new Event(name, id, data);
            } else if (line.startsWith("event: ")) {
                name = line.substring("event: ".length());
            } else if (line.startsWith("id: ")) {
                id = line.substring("id: ".length());
            } else if (line.startsWith("data: ")) {
                assertThat(data).as("one line of data").isNull();
                data = line.substring("data: ".length());
            }
        }
        return null;
    }

    /** The next event that has data. */
    Event nextRecord() throws IOException {
        Event event = next();
        while (event != null && event.data() == null) {
            event = next();
        }
        return event;
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
