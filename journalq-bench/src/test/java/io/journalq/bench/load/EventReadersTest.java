package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.driver.ConnectionSecurity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two readers at a server that sends what the test wants. */
@Timeout(120)
class EventReadersTest {
    private static final int READERS = 2;
    /** Messages a second, so that each is due when it arrives. */
    private static final long NANOS = 1_000_000_000;

    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final CheckedMessages messages = new CheckedMessages(100, 3);
    private final List<Socket> server = new ArrayList<>();
    private ServerSocket listener;
    private EventReaders readers;

    @BeforeEach
    void open() throws IOException, InterruptedException {
        listener = new ServerSocket(0, READERS, InetAddress.getLoopbackAddress());
        Thread opener = new Thread(() -> {
            try {
                for (int i = 0; i < READERS; i++) {
                    server.add(listener.accept());
                    send(i, "HTTP/1.1 200 OK\r\n\r\nretry: 1000\nid: 0:0\n\n");
                }
            } catch (IOException failed) {
                throw new IllegalStateException(failed);
            }
        });
        opener.start();
        readers = new EventReaders(
                new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort()),
                ConnectionSecurity.NONE,
                "topic",
                READERS,
                messages);
        opener.join();
        Thread thread = new Thread(readers);
        thread.setDaemon(true);
        readers.begin(new Timetable(NANOS));
        thread.start();
    }

    @AfterEach
    void close() throws IOException {
        readers.close();
        for (Socket socket : server) {
            socket.close();
        }
        listener.close();
    }

    private void send(int reader, String text) throws IOException {
        server.get(reader).getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private String event(int number) {
        return "id: 0:" + number + "\ndata: {\"partition\":0,\"offset\":" + number + ",\"key\":null,\"value\":\""
                + new String(messages.message(number), StandardCharsets.US_ASCII) + "\"}\n\n";
    }

    @Test
    void shouldWaitForEachMessageOfEachReader() throws IOException {
        send(0, event(0) + event(1) + event(2));
        send(1, event(2) + event(0) + event(1));

        readers.await(3, WAIT_NS);
        messages.requireArrivals(new int[] {READERS, READERS, READERS});
        assertThat(readers.latencies().getTotalCount()).isEqualTo(3 * READERS);
    }

    @Test
    void shouldReadAnEventThatArrivesInParts() throws IOException {
        String events = event(0) + event(1);
        for (int i = 0; i < events.length(); i += 7) {
            send(0, events.substring(i, Math.min(events.length(), i + 7)));
        }
        send(1, event(1) + event(0));

        readers.await(2, WAIT_NS);
    }

    @Test
    void shouldFailWhenAReaderGetsAMessageTwice() throws IOException {
        send(0, event(0) + event(0));

        assertThatThrownBy(() -> readers.await(1, WAIT_NS)).hasMessageContaining("received message 0 twice");
    }

    @Test
    void shouldFailWhenAMessageIsDamaged() throws IOException {
        String event = event(0);
        int last = event.indexOf("\"}") - 1;

        send(0, event.substring(0, last) + (event.charAt(last) == 'a' ? 'b' : 'a') + event.substring(last + 1));

        assertThatThrownBy(() -> readers.await(1, WAIT_NS)).hasMessageContaining("message 0 has a wrong checksum");
    }

    @Test
    void shouldFailWhenTheBrokerEndsAStream() throws IOException {
        server.get(0).shutdownOutput();

        assertThatThrownBy(() -> readers.await(1, WAIT_NS)).hasMessageContaining("closed a stream of events");
    }

    @Test
    void shouldForgetWhatWasReceivedBefore() throws IOException {
        send(0, event(0));
        send(1, event(0));
        readers.await(1, WAIT_NS);
        readers.begin(new Timetable(NANOS));

        send(0, event(0));
        send(1, event(0));

        readers.await(1, WAIT_NS);
        assertThat(readers.latencies().getTotalCount()).isEqualTo(READERS);
    }
}
