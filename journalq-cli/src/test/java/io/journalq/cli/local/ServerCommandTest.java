package io.journalq.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.journalq.cli.CommandRun;
import io.journalq.cli.shell.ExitCode;
import io.journalq.server.broker.BrokerMain;
import io.journalq.server.directory.DataLocks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands about a broker, with another process or none in its place; the distribution's tests start a real one. */
class ServerCommandTest {
    private static final int MAX_CHECKS = 600;
    private static final int CHECK_INTERVAL_MS = 100;

    @TempDir
    private Path directory;

    private HttpServer health;
    private volatile int healthStatus;
    private final CountDownLatch asked = new CountDownLatch(1);

    @BeforeEach
    void serveHealth() throws IOException {
        health = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        health.createContext("/health", exchange -> {
            asked.countDown();
            exchange.sendResponseHeaders(healthStatus, -1);
            exchange.close();
        });
        health.start();
    }

    @AfterEach
    void stopServingHealth() {
        health.stop(0);
    }

    private CommandRun run(String command, String... more) {
        List<String> words = new ArrayList<>(List.of(
                command, "--set", "data.directories=" + directory, "--set", "listeners=PLAINTEXT://127.0.0.1:0"));
        words.addAll(List.of(more));
        return CommandRun.server(words.toArray(String[]::new));
    }

    /** A process that says, as a broker would, that it has the directory. */
    private Process sleeper() throws IOException {
        Process sleeper = new ProcessBuilder("sleep", "60").start();
        long startedMs = sleeper.info().startInstant().orElse(Instant.EPOCH).toEpochMilli();
        Files.writeString(
                directory.resolve(".lock"),
                "process=" + sleeper.pid() + "\nstarted=" + startedMs + "\nadmin=127.0.0.1:"
                        + health.getAddress().getPort() + "\naddress=localhost:7777\n");
        return sleeper;
    }

    @Test
    void shouldSayNotRunningWhenThereIsNoProcess() {
        healthStatus = 503;

        CommandRun run = run("status");

        assertThat(run.exitCode()).isEqualTo(ExitCode.NOT_RUNNING);
        assertThat(run.out())
                .startsWith("no broker is running with " + directory + "; start one with bin/journalq-server start\n");
    }

    @Test
    void shouldTellAReadyBrokerFromOneThatIsNot() throws IOException {
        Process broker = sleeper();
        try {
            healthStatus = 503;
            CommandRun starting = run("status");
            healthStatus = 200;
            CommandRun ready = run("status", "--output", "json");

            assertThat(starting.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(starting.out()).startsWith("running but not ready at localhost:7777, process " + broker.pid());
            assertThat(ready.exitCode()).isEqualTo(ExitCode.DONE);
            assertThat(ready.out()).contains("\"ready\" : true", "\"processId\" : " + broker.pid());
        } finally {
            broker.destroyForcibly();
        }
    }

    @Test
    void shouldStopTheProcessAndWaitForItsEnd() throws Exception {
        // given
        Process broker = sleeper();

        // when
        CommandRun stop = run("stop");
        CommandRun again = run("stop");

        // then
        assertThat(stop.exitCode()).isEqualTo(ExitCode.DONE);
        assertThat(stop.out()).startsWith("stopped the broker (process " + broker.pid() + ") in ");
        assertThat(broker.waitFor()).isNotZero();
        assertThat(again.exitCode()).isEqualTo(ExitCode.DONE);
        assertThat(again.out())
                .startsWith("no broker is running with " + directory + "; start one with bin/journalq-server start\n");
    }

    @Test
    void shouldNotTakeAnotherBrokerForTheOneOfThisDirectory() {
        // given
        healthStatus = 200;
        int port = health.getAddress().getPort();

        // when
        CommandRun run = run(
                "status",
                "--set",
                "listeners=PLAINTEXT://127.0.0.1:" + port,
                "--set",
                "admin.listener=127.0.0.1:" + port);

        // then
        assertThat(run.exitCode()).isEqualTo(ExitCode.NOT_RUNNING);
        assertThat(run.out()).startsWith("no broker is running with " + directory);
    }

    @Test
    void shouldTellOfABrokerWhoseProcessCannotBeSeen() throws IOException {
        try (DataLocks held = DataLocks.acquire(List.of(directory))) {
            // given the lock of a process of another container
            Files.writeString(directory.resolve(".lock"), "process=999999999\nstarted=1\n");

            // when another broker responds at the configured address
            healthStatus = 200;
            int port = health.getAddress().getPort();
            CommandRun status = run(
                    "status",
                    "--set",
                    "listeners=PLAINTEXT://127.0.0.1:" + port,
                    "--set",
                    "admin.listener=127.0.0.1:" + port);
            CommandRun stop = run("stop");

            // then
            assertThat(status.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(status.out()).startsWith("starting, in a process that is not visible from here");
            assertThat(stop.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(stop.errLines())
                    .containsExactly("journalq: a broker is running with " + directory
                            + ", but its process is not visible from here; stop it in its container or on its machine");
            held.announce("localhost:1", "", null);
        }
    }

    @Test
    void shouldRefuseToStartWhenABrokerHasTheDirectory() throws IOException {
        Process broker = sleeper();
        healthStatus = 200;
        try {
            CommandRun run = run("start");

            assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(run.errLines())
                    .containsExactly("journalq: a broker is already running with " + directory + " (process "
                            + broker.pid() + " at localhost:7777); stop it with bin/journalq-server stop");
        } finally {
            broker.destroyForcibly();
        }
    }

    @Test
    void shouldWaitForAKilledBrokerToBeGoneBeforeItStarts() throws Exception {
        // given a process that still has the directory and no longer responds
        Process dying = sleeper();
        healthStatus = 503;
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // when
            CompletableFuture<CommandRun> start = CompletableFuture.supplyAsync(
                    () -> run("start", "--set", "listeners=PLAINTEXT://127.0.0.1:" + taken.getLocalPort()));
            asked.await();
            dying.destroyForcibly();

            // then it goes on, as far as this test lets it
            assertThat(start.get().errLines()).singleElement().asString().contains("another program is listening at");
        }
    }

    @Test
    void shouldNotTakeTheBrokerOfAnotherStartForItsOwn() throws IOException {
        // given a start that another one overtakes after both have found the directory free
        healthStatus = 200;
        Process other = sleeper();
        Path lock = Files.move(directory.resolve(".lock"), directory.resolve("lock-of-other"));
        Path home = directory.resolve("home");
        Path script = Files.createDirectories(home.resolve("bin")).resolve("journalq-server");
        Files.writeString(
                script,
                "#!/bin/sh\ncp '" + lock + "' '" + directory.resolve(".lock")
                        + "'\nsleep 1\necho in use by another broker\nexit 1\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        try {
            // when
            CommandRun run = inHome(
                    home,
                    "start",
                    "--set",
                    "data.directories=" + directory,
                    "--set",
                    "listeners=PLAINTEXT://127.0.0.1:0");

            // then
            assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(run.err()).contains("in use by another broker", "the broker did not start (exit code 1)");
            assertThat(run.out()).isEmpty();
        } finally {
            other.destroyForcibly();
        }
    }

    @Test
    void shouldRefuseToStartWhenAnotherProgramHasThePort() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CommandRun run = run("start", "--set", "listeners=PLAINTEXT://127.0.0.1:" + taken.getLocalPort());

            assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(run.errLines())
                    .containsExactly("journalq: another program is listening at 127.0.0.1:"
                            + taken.getLocalPort()
                            + "; stop it, or choose another port with --set listeners=PLAINTEXT://localhost:PORT");
        }
    }

    @Test
    void shouldNameTheNearestSettingWhenOneIsUnknown() {
        CommandRun run = run("start", "--set", "data.directory=x");

        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(run.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: ")
                .contains("data.directory", "did you mean 'data.directories'?"));
    }

    @Test
    void shouldRefuseASettingWithoutAValueAsWrongUsage() {
        CommandRun run = run("start", "--set", "secret");

        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq-server: ")
                .contains("--set", "it must be KEY=VALUE", "start --help")
                .doesNotContain("secret"));
    }

    @Test
    void shouldReadTheNamedConfiguration() throws IOException {
        Path file = Files.writeString(directory.resolve("own.yaml"), "listeners: PLAINTEXT://[::1]:7777\n", UTF_8);

        LocalBroker broker = LocalBroker.of(file, Map.of("JOURNALQ_ADMIN_LISTENER", ""), List.of());

        assertThat(broker.address()).isEqualTo("[::1]:7777");
        assertThat(broker.adminAddress()).isNull();
        assertThat(broker.dataDirectory()).isEqualTo(Path.of("data").toAbsolutePath());
    }

    /** A real broker, started in a directory that is not its home. */
    private Process broker(Path home, String... settings) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Djournalq.home=" + home,
                "-Dlogback.configurationFile="
                        + Path.of("..", "conf", "logback.xml").toAbsolutePath(),
                BrokerMain.class.getName(),
                "--set",
                "write.ahead.max.bytes=1MiB",
                "--set",
                "admin.listener=127.0.0.1:0",
                "--set",
                "gateway.listener="));
        for (String setting : settings) {
            command.addAll(List.of("--set", setting));
        }
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(Files.createDirectories(directory.resolve("other")).toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("broker.out").toFile());
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        return builder.start();
    }

    private static CommandRun inHome(Path home, String... words) {
        System.setProperty("journalq.home", home.toString());
        try {
            return CommandRun.server(words);
        } finally {
            System.clearProperty("journalq.home");
        }
    }

    private CommandRun awaitReady(Path home) throws Exception {
        CommandRun status = inHome(home, "status");
        for (int i = 0; i < MAX_CHECKS && status.exitCode() != ExitCode.DONE; i++) {
            Thread.sleep(CHECK_INTERVAL_MS);
            status = inHome(home, "status");
        }
        assertThat(status.exitCode())
                .as(status.out() + Files.readString(directory.resolve("broker.out")))
                .isEqualTo(ExitCode.DONE);
        return status;
    }

    @Test
    void shouldWarnAsLongAsOtherMachinesCanConnect() throws Exception {
        // given
        Path home = directory.resolve("home");
        Process open = broker(
                home,
                "allow.insecure.listeners=true",
                "listeners=LOCAL://localhost:0,OPEN://0.0.0.0:0",
                "listener.security.protocol.map=LOCAL:PLAINTEXT,OPEN:PLAINTEXT");
        try {
            awaitReady(home);

            // when
            CommandRun status = inHome(home, "status");
            CommandRun json = inHome(home, "status", "--output", "json");

            // then
            String warning = "open to other machines, without authentication and encryption: ";
            assertThat(status.outLines()).hasSize(1);
            assertThat(status.err()).matches("journalq: warning: " + warning + "0\\.0\\.0\\.0:\\d+\\R");
            assertThat(json.out()).containsPattern("\"openAddresses\" : \\[ \"0\\.0\\.0\\.0:\\d+\" ]");
            assertThat(Files.readString(directory.resolve("broker.out"))).containsOnlyOnce(warning);
            inHome(home, "stop");
        } finally {
            open.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldFindTheBrokerOfAHomeWhereverItAndTheCommandWereStarted() throws Exception {
        // given
        Path home = directory.resolve("home");
        Path otherHome = Files.createDirectory(directory.resolve("other-home"));
        Process broker = broker(home, "listeners=PLAINTEXT://127.0.0.1:0");
        try {
            CommandRun status = awaitReady(home);
            assertThat(status.err()).as("nothing is open").isEmpty();
            assertThat(status.out()).contains(", process " + broker.pid(), ", data in " + home.resolve("data"));
            assertThat(directory.resolve("other")).isEmptyDirectory();

            // when
            CommandRun other = inHome(otherHome, "status");
            CommandRun json = inHome(otherHome, "status", "--output", "json");
            CommandRun wrongStop = inHome(otherHome, "stop");
            CommandRun namedStop = inHome(home, "stop", "--set", "data.directories=" + otherHome);

            // then
            String known = "process " + broker.pid() + " at 127.0.0.1:";
            assertThat(other.exitCode()).isEqualTo(ExitCode.NOT_RUNNING);
            assertThat(other.out())
                    .startsWith("no broker is running with " + otherHome.resolve("data"))
                    .contains("running with another data directory: " + known, ", data in " + home.resolve("data"));
            assertThat(json.out()).contains("\"otherBrokers\"", "\"processId\" : " + broker.pid());
            assertThat(wrongStop.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(wrongStop.errLines()).singleElement().satisfies(line -> assertThat(line)
                    .startsWith("journalq: no broker is running with " + otherHome.resolve("data"))
                    .contains(known, ", data in " + home.resolve("data"))
                    .endsWith("; to stop one of these, add --set data.directories=DIRECTORY"));
            assertThat(namedStop.exitCode()).isEqualTo(ExitCode.DONE);
            assertThat(broker.isAlive()).isTrue();

            // when
            CommandRun stop = inHome(home, "stop");

            // then
            assertThat(stop.out()).startsWith("stopped the broker (process " + broker.pid() + ")");
        } finally {
            broker.destroyForcibly().waitFor();
        }
    }
}
