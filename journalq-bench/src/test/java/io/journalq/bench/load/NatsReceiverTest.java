package io.journalq.bench.load;

import static io.journalq.bench.load.NatsStreamTest.BINARY;
import static io.journalq.bench.load.NatsStreamTest.frame;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The receiver at a server that says what the test wants. */
@Timeout(120)
class NatsReceiverTest {
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(60);

    private final CheckedMessages messages = new CheckedMessages(100, 2);
    private ServerSocket listener;
    private NatsReceiver receiver;
    private Socket server;

    @BeforeEach
    void subscribe() throws IOException, InterruptedException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        // Everything that opens the connection, before it is asked for.
        Thread opener = new Thread(() -> {
            try {
                server = listener.accept();
                send("HTTP/1.1 101 Switching Protocols\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                send(frame(BINARY, "INFO {}\r\nPONG\r\n"));
            } catch (IOException failed) {
                throw new IllegalStateException(failed);
            }
        });
        opener.start();
        receiver = new NatsReceiver(
                new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort()), "subject", messages);
        opener.join();
        Thread thread = new Thread(receiver);
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void close() throws IOException {
        receiver.close();
        server.close();
        listener.close();
    }

    private void send(byte[] bytes) throws IOException {
        server.getOutputStream().write(bytes);
    }

    private void publish(int number) throws IOException {
        String message = new String(messages.message(number), StandardCharsets.US_ASCII);
        send(frame(BINARY, "MSG subject 1 " + message.length() + "\r\n" + message + "\r\n"));
    }

    @Test
    void shouldCountFromZeroAfterAReset() throws IOException {
        publish(0);
        receiver.await(1, WAIT_NS);
        receiver.reset();

        publish(1);

        receiver.await(1, WAIT_NS);
        assertThatThrownBy(() -> receiver.await(2, 0))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("only 1 of 2");
        messages.requireArrivals(new int[] {0, 1});
    }

    @Test
    void shouldFailWhenAMessageIsDamaged() throws IOException {
        String message = new String(messages.message(0), StandardCharsets.US_ASCII);
        String damaged = message.substring(0, 99) + (message.endsWith("a") ? 'b' : 'a');

        send(frame(BINARY, "MSG subject 1 100\r\n" + damaged + "\r\n"));

        assertThatThrownBy(() -> receiver.await(1, WAIT_NS)).hasMessageContaining("message 0 has a wrong checksum");
    }

    @Test
    void shouldReplyToAPing() throws IOException {
        send(frame(BINARY, "PING\r\n"));

        StringBuilder said = new StringBuilder();
        while (said.indexOf("PONG\r\n") < 0) {
            int next = server.getInputStream().read();
            assertThat(next).isNotNegative();
            said.append((char) next);
        }
        assertThat(said).contains("CONNECT {", "SUB subject 1\r\n", "PING\r\n");
    }
}
