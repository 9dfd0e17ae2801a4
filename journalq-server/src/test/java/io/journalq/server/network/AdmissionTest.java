package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.TestServer.Client;
import io.journalq.server.network.TestServer.EchoExchange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Tests which connections are accepted, and which are closed for being idle. */
class AdmissionTest {
    private static final long WAIT_MS = 30_000;
    private static final long LONG_MS = 3_600_000;
    private static final long SHORT_MS = 500;

    @Test
    void shouldTurnConnectionsAwayWhenTheBrokerHasAllThatItTakes() throws Exception {
        try (TestServer server = new TestServer(limits(1, 100, LONG_MS), true, 0);
                Client first = new Client(server.port)) {
            first.send(1, 0);
            assertThat(first.receive()).isEqualTo(1);

            try (Client second = new Client(server.port)) {
                assertThat(second.in.read()).isEqualTo(-1);
            }

            assertThat(server.counters.connectionsOverTotal()).isEqualTo(1);
            assertThat(server.counters.refusedConnections()).isEqualTo(1);
            first.send(2, 0);
            assertThat(first.receive()).isEqualTo(2);
        }
    }

    @Test
    void shouldTurnConnectionsAwayWhenTheirAddressHasAllThatItMayHave() throws Exception {
        try (TestServer server = new TestServer(limits(100, 1, LONG_MS), true, 0)) {
            // given an address with a connection
            try (Client first = new Client(server.port)) {
                first.send(1, 0);
                assertThat(first.receive()).isEqualTo(1);

                // then a second connection of this address is closed
                try (Client second = new Client(server.port)) {
                    assertThat(second.in.read()).isEqualTo(-1);
                }
                assertThat(server.counters.connectionsOverAddress()).isEqualTo(1);

                // and a connection of another address is served
                try (Socket other = new Socket(
                        InetAddress.getLoopbackAddress(), server.port, InetAddress.getByName("127.0.0.2"), 0)) {
                    other.getOutputStream().write(new byte[] {0, 0, 0, 4, 0, 0, 0, 7});
                    assertThat(other.getInputStream().readNBytes(8)).endsWith(0, 0, 0, 7);
                }
            }
            // when the first is closed, then another can be opened
            until(() -> server.counters.openConnections() == 0);
            try (Client third = new Client(server.port)) {
                third.send(3, 0);
                assertThat(third.receive()).isEqualTo(3);
            }
        }
    }

    @Test
    void shouldCountAClientOnceWhenItLeavesWhileItsLoginIsChecked() throws Exception {
        try (TestServer server = new TestServer(TestServer.ROOMY, false, 0)) {
            // given two clients of an address, as many as it may have before their logins
            AddressLimits addresses = new AddressLimits(2, 0);
            Door door = new KafkaDoor(
                    (connection, frame) -> server.new EchoExchange(connection, frame),
                    Transport.PLAIN,
                    new PreAuthentication(addresses),
                    false);
            int port = server.acceptor.bind(door, "LOGIN", "127.0.0.1", 0);
            server.acceptor.accept();
            try (Client stranger = new Client(port);
                    Client hasty = new Client(port)) {
                stranger.send(1, 0);
                until(() -> server.opened.size() == 1);
                hasty.send(2, 0);
                until(() -> server.opened.size() == 2);

                // when one of them leaves before its password turns out to be right
                EchoExchange login = server.opened.stream()
                        .filter(exchange -> exchange.number == 2)
                        .findAny()
                        .orElseThrow();
                hasty.socket.close();
                until(() -> server.counters.unauthenticatedConnections() == 1);
                login.connection()
                        .cycle()
                        .ask(() -> {
                            login.connection().onAuthenticated();
                            login.response();
                            return null;
                        })
                        .get(WAIT_MS, TimeUnit.MILLISECONDS);

                // then the other one still counts
                assertThat(server.counters.unauthenticatedConnections()).isEqualTo(1);
                SocketAddress here = login.connection().remoteAddress();
                assertThat(addresses.add(here)).isTrue();
                assertThat(addresses.add(here)).isFalse();

                server.opened.remove(login);
                server.opened.remove().response();
            }
        }
    }

    @Test
    void shouldCloseAConnectionThatNeverSendsAnything() throws Exception {
        try (TestServer server = new TestServer(limits(100, 100, SHORT_MS), true, 0);
                Client silent = patient(server)) {
            assertThat(silent.in.read()).isEqualTo(-1);
            assertThat(server.counters.idleConnections()).isEqualTo(1);
        }
    }

    @Test
    void shouldCloseAConnectionWhoseRequestNeverComesToItsEnd() throws Exception {
        try (TestServer server = new TestServer(limits(100, 100, SHORT_MS), true, 0);
                Client slow = patient(server)) {
            // given a request that arrives byte by byte, for as long as the connection lives
            slow.socket.setSoTimeout(10);
            boolean closed = !succeeds(() -> slow.out.writeInt(1_000_000));
            long deadlineNanos = System.nanoTime() + WAIT_MS * 1_000_000;
            while (!closed && System.nanoTime() < deadlineNanos) {
                try {
                    slow.out.write(1);
                    closed = slow.in.read() == -1;
                } catch (SocketTimeoutException stillOpen) {
                    closed = false;
                } catch (IOException reset) {
                    closed = true;
                }
            }
            // then these bytes do not keep it alive
            assertThat(closed).isTrue();
            assertThat(server.counters.idleConnections()).isEqualTo(1);
        }
    }

    @Test
    void shouldCloseAConnectionWhoseClientDoesNotReadItsResponses() throws Exception {
        // given responses that fill every buffer up to the client
        try (TestServer server = new TestServer(limits(100, 100, SHORT_MS), true, 8 << 20);
                Client deaf = patient(server)) {
            for (int i = 0; i < 3; i++) {
                int number = i;
                succeeds(() -> deaf.send(number, 0));
            }
            // then the connection is closed although there is something to send
            until(() -> server.counters.idleConnections() == 1);
            until(() -> server.counters.openConnections() == 0);
        }
    }

    @Test
    void shouldCloseAConnectionWhoseClientDoesNotReadItsResponsesToManyRequests() throws Exception {
        // given a client that has sent all of its requests before the first response
        try (TestServer server = new TestServer(limits(100, 100, 4 * SHORT_MS), false, 8 << 20);
                Client deaf = patient(server)) {
            for (int i = 0; i < 3; i++) {
                deaf.send(i, 0);
            }
            until(() -> server.opened.size() == 3);
            // when the first response fills every buffer up to the client, and the others wait behind it
            server.opened.forEach(TestServer.EchoExchange::response);

            // then the connection is closed although responses wait
            until(() -> server.counters.idleConnections() == 1);
            until(() -> server.counters.openConnections() == 0);
        }
    }

    @Test
    void shouldKeepAConnectionThatWaitsForAResponse() throws Exception {
        try (TestServer server = new TestServer(limits(100, 100, SHORT_MS), false, 0)) {
            // given a client with an open request
            Client waiting = patient(server);
            while (!isOpened(server, waiting)) {
                waiting.close();
                waiting = patient(server);
            }
            // when idle connections are closed
            for (int i = 0; i < 2; i++) {
                try (Client silent = patient(server)) {
                    assertThat(silent.in.read()).isEqualTo(-1);
                }
            }
            // then it can still receive the response
            server.opened.poll().response();
            assertThat(waiting.receive()).isEqualTo(1);
            waiting.close();
        }
    }

    /** Sends a request, unless this test was so slow that the connection is closed already. */
    private static boolean isOpened(TestServer server, Client client) throws InterruptedException {
        long idleBefore = server.counters.idleConnections();
        succeeds(() -> client.send(1, 0));
        until(() -> !server.opened.isEmpty() || server.counters.idleConnections() > idleBefore);
        return !server.opened.isEmpty();
    }

    private interface Sending {
        void send() throws IOException;
    }

    private static boolean succeeds(Sending sending) {
        try {
            sending.send();
            return true;
        } catch (IOException closed) {
            return false;
        }
    }

    private static ConnectionLimits limits(int maxConnections, int maxPerAddress, long maxIdleMs) {
        ConnectionLimits roomy = TestServer.ROOMY;
        return new ConnectionLimits(
                roomy.maxFrameSizeBytes(),
                roomy.maxInFlightRequests(),
                roomy.maxInFlightBytes(),
                roomy.maxLoopInFlightBytes(),
                new ConnectionLimits.Admission(maxConnections, maxPerAddress, 10_000, maxIdleMs));
    }

    private static Client patient(TestServer server) throws IOException {
        Client client = new Client(server.port);
        client.socket.setSoTimeout((int) WAIT_MS);
        return client;
    }

    private static void until(BooleanSupplier condition) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + WAIT_MS * 1_000_000;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("condition within the limit").isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }
}
