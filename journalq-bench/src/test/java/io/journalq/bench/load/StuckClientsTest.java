package io.journalq.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.ConnectionSecurity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients at a server that says what the test wants. The kernel accepts their connections. */
@Timeout(120)
class StuckClientsTest {
    private ServerSocket listener;
    private StuckClients clients;
    private Socket events;
    private Socket webSocket;
    private Socket poster;

    @BeforeEach
    void connect() throws IOException {
        listener = new ServerSocket(0, 3, InetAddress.getLoopbackAddress());
        clients = new StuckClients(
                new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort()),
                ConnectionSecurity.NONE,
                "topic",
                2,
                1);
        events = listener.accept();
        webSocket = listener.accept();
        poster = listener.accept();
    }

    @AfterEach
    void close() throws IOException {
        clients.close();
        events.close();
        webSocket.close();
        poster.close();
        listener.close();
    }

    private static void readUntil(Socket socket, String expected) throws IOException {
        StringBuilder text = new StringBuilder();
        while (text.indexOf(expected) < 0) {
            int next = socket.getInputStream().read();
            assertThat(next).as("%s", text).isNotNegative();
            text.append((char) next);
        }
    }

    @Test
    void shouldSubscribeInBothWaysAndAppendSlowly() throws IOException {
        readUntil(events, "GET /v1/topics/topic/events");
        readUntil(webSocket, "{\"type\":\"subscribe\",\"topic\":\"topic\"");
        readUntil(poster, "{\"records\":[{\"value\":\"" + "x".repeat(1000));

        clients.requireWaiting();
    }

    @Test
    void shouldFailWhenTheBrokerRespondsToASlowRequest() throws IOException {
        poster.getOutputStream().write("HTTP/1.1 408 Request Timeout\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

        assertThatThrownBy(this::requireWaitingUntilItFails)
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("408 Request Timeout");
    }

    @Test
    void shouldFailWhenTheBrokerEndsASlowRequest() throws IOException {
        poster.shutdownOutput();

        assertThatThrownBy(this::requireWaitingUntilItFails).isInstanceOf(BenchException.class);
    }

    private void requireWaitingUntilItFails() throws IOException {
        while (true) {
            clients.requireWaiting();
            Thread.onSpinWait();
        }
    }
}
