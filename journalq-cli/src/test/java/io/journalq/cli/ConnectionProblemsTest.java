package io.journalq.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user is told within 5 seconds who gives the wrong host, port, profile or broker. */
@Timeout(60)
class ConnectionProblemsTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final int MAX_QUEUED_CONNECTIONS = 16;
    private static final int FULL_QUEUE_TIMEOUT_MS = 200;

    private static String failure(String... words) {
        return failure(Map.of(), words);
    }

    private static String failure(Map<String, String> environment, String... words) {
        long startNs = System.nanoTime();
        CommandRun run = CommandRun.journalq("", environment, words);
        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(LIMIT);
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.FAILED);
        assertThat(run.out()).isEmpty();
        assertThat(run.errLines()).hasSize(1);
        return run.errLines().get(0);
    }

    private static ServerSocket listen(int backlog) throws IOException {
        return new ServerSocket(0, backlog, InetAddress.getLoopbackAddress());
    }

    @Test
    void shouldSayThatNobodyListensWhenTheConnectionIsRefused() throws IOException {
        String address = "127.0.0.1:" + LoopbackPorts.next();

        String expected = "journalq: no program is listening at " + address
                + "; start a broker with bin/journalq-server start, or set another address with --bootstrap";
        assertThat(failure("--bootstrap", address, "topics", "list")).isEqualTo(expected);
        assertThat(failure("consume", "orders", "--bootstrap=" + address)).isEqualTo(expected);
    }

    @Test
    void shouldSayThatTheHostIsUnknownWhenItsNameDoesNotResolve() {
        assertThat(failure("topics", "list", "--bootstrap", "no-such-host.invalid:9092"))
                .isEqualTo("journalq: unknown host no-such-host.invalid; check the name in --bootstrap");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HTTP/1.1 400 Bad Request | it responds with HTTP",
                "220 mail.example.com ESMTP | it does not speak the Kafka protocol",
            })
    void shouldSayThatItIsNotABrokerWhenAnotherProgramResponds(String greeting, String reason) throws Exception {
        try (ServerSocket other = listen(1)) {
            Thread program = new Thread(() -> greetOnce(other, greeting));
            program.start();
            String address = "127.0.0.1:" + other.getLocalPort();

            assertThat(failure("topics", "list", "--bootstrap", address))
                    .isEqualTo("journalq: the program at " + address + " is not a broker: " + reason
                            + "; check the port in --bootstrap");
            program.join();
        }
    }

    @Test
    void shouldMentionTlsWhenTheProgramClosesTheConnection() throws Exception {
        try (ServerSocket other = listen(1)) {
            Thread program = new Thread(() -> greetOnce(other, ""));
            program.start();
            String address = "127.0.0.1:" + other.getLocalPort();

            assertThat(failure("topics", "list", "--bootstrap", address))
                    .isEqualTo("journalq: the program at " + address + " is not a broker: it closed the connection"
                            + " without a response; check the port in --bootstrap, or use --tls-ca if the broker"
                            + " requires TLS");
            program.join();
        }
    }

    private static void greetOnce(ServerSocket socket, String greeting) {
        try (Socket client = socket.accept()) {
            client.getOutputStream().write(greeting.getBytes(US_ASCII));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void shouldSayThatNoBrokerRespondedWhenTheProgramIsSilent() throws IOException {
        // given a program that accepts connections and never writes anything
        try (ServerSocket silent = listen(MAX_QUEUED_CONNECTIONS)) {
            String address = "127.0.0.1:" + silent.getLocalPort();
            // when two commands wait at the same time
            CompletableFuture<String> list =
                    CompletableFuture.supplyAsync(() -> failure("topics", "list", "--bootstrap", address));
            String produce = failure("produce", "orders", "--bootstrap", address);
            // then
            assertThat(List.of(list.join(), produce)).allSatisfy(line -> assertThat(line)
                    .startsWith("journalq: the program at " + address
                            + " accepts connections but did not respond as a broker within 4 s"));
        }
    }

    @Test
    void shouldSayThatThereIsNoConnectionWhenPacketsAreSwallowed() throws IOException {
        // given an address whose queue of connections is full, so that the kernel drops further ones
        List<Socket> queued = new ArrayList<>();
        try (ServerSocket full = listen(1)) {
            boolean dropped = false;
            while (!dropped && queued.size() < MAX_QUEUED_CONNECTIONS) {
                Socket socket = new Socket();
                queued.add(socket);
                try {
                    socket.connect(full.getLocalSocketAddress(), FULL_QUEUE_TIMEOUT_MS);
                } catch (SocketTimeoutException queueIsFull) {
                    dropped = true;
                }
            }
            assertThat(dropped).isTrue();
            String address = "127.0.0.1:" + full.getLocalPort();

            assertThat(failure("topics", "list", "--bootstrap", address))
                    .isEqualTo("journalq: no connection to " + address
                            + " within 2 s; check the address, and the firewalls on the way to it");
        } finally {
            for (Socket socket : queued) {
                socket.close();
            }
        }
    }

    @Test
    void shouldUseTheAddressThatRespondsWhenOthersDoNot(@TempDir Path directory) throws IOException {
        try (CommandBroker broker = new CommandBroker(directory)) {
            CommandRun run = CommandRun.journalq(
                    "topics",
                    "list",
                    "--bootstrap",
                    "no-such-host.invalid:1,127.0.0.1:" + LoopbackPorts.next() + "," + broker.bootstrap());
            assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
        }
        assertThat(failure("topics", "list", "--bootstrap", "no-such-host.invalid:1,127.0.0.1:" + LoopbackPorts.next()))
                .startsWith("journalq: none of 2 addresses is that of a broker: unknown host no-such-host.invalid")
                .contains("no program is listening at 127.0.0.1:");
    }

    @Test
    void shouldNameTheBrokersWhenTheIdIsUnknown(@TempDir Path directory) {
        try (CommandBroker broker = new CommandBroker(directory)) {
            String expected = "journalq: there is no broker 7 in the cluster; its brokers are 0";
            String at = broker.bootstrap();

            assertThat(failure("configs", "describe", "--broker", "7", "--bootstrap", at))
                    .isEqualTo(expected);
            assertThat(failure("configs", "set", "--broker", "7", "retention.ms=1", "--bootstrap", at))
                    .isEqualTo(expected);
            assertThat(broker.done("configs", "describe", "--broker", "0").out())
                    .contains("retention.ms");
        }
    }

    @Test
    void shouldConnectToTheBrokerOfAProfile(@TempDir Path directory) {
        try (CommandBroker broker = new CommandBroker(directory.resolve("data"))) {
            Map<String, String> user =
                    Map.of("XDG_CONFIG_HOME", directory.resolve("config").toString());

            // given
            CommandRun added =
                    CommandRun.journalq("", user, "profile", "add", "prod", "--bootstrap", broker.bootstrap());
            assertThat(added.out()).isEqualTo("added profile prod: " + broker.bootstrap() + "\n");
            CommandRun.journalq("", user, "profile", "add", "test", "--bootstrap", "localhost:1,[::1]:2");

            // then
            assertThat(CommandRun.journalq("", user, "profile", "list").outLines())
                    .containsExactly(
                            "PROFILE  BOOTSTRAP            TLS  USER",
                            "prod     " + broker.bootstrap()
                                    + " ".repeat(19 - broker.bootstrap().length()) + "  no   no",
                            "test     localhost:1,[::1]:2  no   no");
            assertThat(CommandRun.journalq("", user, "topics", "create", "orders", "--profile", "prod")
                            .out())
                    .isEqualTo("created topic orders\n");
            Map<String, String> chosen =
                    Map.of("XDG_CONFIG_HOME", user.get("XDG_CONFIG_HOME"), "JOURNALQ_PROFILE", "prod");
            assertThat(CommandRun.journalq("", chosen, "topics", "list").out()).contains("orders");
            assertThat(failure(user, "topics", "list", "--profile", "prd"))
                    .isEqualTo("journalq: there is no profile prd; add it with journalq profile add prd --bootstrap"
                            + " HOST:PORT, or use one of these: prod, test");

            // when
            assertThat(CommandRun.journalq("", user, "profile", "remove", "prod")
                            .out())
                    .isEqualTo("removed profile prod\n");
            assertThat(failure(user, "profile", "remove", "prod")).contains("there is no profile prod");
        }
    }
}
