package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive as a user has it: unpacked somewhere, run with the Java of this build, against nothing but itself. */
class DistributionTest {
    private static final int MAX_SECONDS = 90;
    private static final int CHECK_INTERVAL_MS = 50;

    @TempDir
    private static Path shared;

    private static Path home;

    @TempDir
    private Path directory;

    private Path data;

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        home = UnpackedArchive.in(Files.createDirectory(shared.resolve("a path with spaces")));
    }

    @BeforeEach
    void chooseData() {
        data = directory.resolve("the data");
    }

    @AfterEach
    void shouldLeaveNoProcess() {
        List<ProcessHandle> left = ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(home.toString()))
                .toList();
        left.forEach(ProcessHandle::destroyForcibly);
        assertThat(left).isEmpty();
    }

    private Map<String, String> environment() {
        return Map.of(
                "JAVA_HOME", System.getProperty("java.home"),
                "JOURNALQ_HEAP", "128m",
                "JOURNALQ_LOG_DIR", directory.resolve("the logs").toString());
    }

    private List<String> command(String script, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(home.resolve("bin").resolve(script).toString());
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    private List<String> server(String... arguments) {
        List<String> command = command("journalq-server", arguments);
        command.addAll(List.of("--set", "data.directories=" + data));
        return command;
    }

    private List<String> onFreePorts(List<String> command) {
        for (String listener :
                List.of("listeners=PLAINTEXT://127.0.0.1:0", "admin.listener=127.0.0.1:0", "gateway.listener=")) {
            command.addAll(List.of("--set", listener));
        }
        return command;
    }

    private ScriptRun run(List<String> command) throws IOException, InterruptedException {
        return ScriptRun.of(directory, environment(), command);
    }

    private ScriptRun done(List<String> command) throws IOException, InterruptedException {
        ScriptRun run = run(command);
        assertThat(run.exitCode()).as("%s: %s%s", command, run.out(), run.err()).isZero();
        return run;
    }

    private static String field(ScriptRun json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\" : \"?([^\",\n]+)").matcher(json.out());
        assertThat(matcher.find()).as(json.out()).isTrue();
        return matcher.group(1);
    }

    @Test
    void shouldServeMessagesFromWhereItWasUnpackedAndLeaveNothingWhenStopped() throws Exception {
        // given
        ScriptRun start = done(onFreePorts(server("start")));
        assertThat(start.out()).startsWith("JournalQ is ready at 127.0.0.1:");
        ScriptRun status = done(server("status", "--output", "json"));
        assertThat(field(status, "ready")).isEqualTo("true");
        String bootstrap = field(status, "address");

        // when
        done(command("journalq", "topics", "create", "orders", "--partitions", "3", "--bootstrap", bootstrap));
        ScriptRun produce = ScriptRun.withInput(
                "a:1\nb:2\nc:3\n",
                directory,
                environment(),
                command("journalq", "produce", "orders", "--key-separator", ":", "--bootstrap", bootstrap));
        ScriptRun consume = done(command(
                "journalq",
                "consume",
                "orders",
                "--from=beginning",
                "--until=end",
                "--key-separator=:",
                "--bootstrap",
                bootstrap));
        ScriptRun missing = run(command("journalq", "topics", "describe", "absent", "--bootstrap", bootstrap));
        ScriptRun unread = run(command("journalq", "consume", "absent", "--bootstrap", bootstrap));
        ScriptRun alone = run(command("journalq", "consume", "orders", "--bootstrap", "127.0.0.1:1"));
        ScriptRun wrong = run(command("journalq", "topics", "lst"));
        ScriptRun again = run(onFreePorts(server("start")));

        // then
        assertThat(produce.exitCode()).as(produce.err()).isZero();
        assertThat(consume.out().lines()).containsExactlyInAnyOrder("a:1", "b:2", "c:3");
        assertThat(missing.exitCode()).as(missing.err()).isEqualTo(1);
        assertThat(missing.err().lines()).hasSize(1);
        assertThat(unread.exitCode()).as(unread.err()).isEqualTo(1);
        assertThat(unread.err().lines()).singleElement().asString().startsWith("journalq: topic absent does not exist");
        assertThat(alone.exitCode()).as(alone.err()).isEqualTo(1);
        assertThat(alone.err().lines()).singleElement().asString().startsWith("journalq: no program is listening at");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(again.exitCode()).isEqualTo(1);
        assertThat(again.err()).contains("a broker is already running with " + data);
        assertThat(ProcessHandle.of(Long.parseLong(field(status, "processId")))
                        .flatMap(broker -> broker.info().commandLine()))
                .as("a broker alone does not load the consensus")
                .hasValueSatisfying(line -> assertThat(line).contains("/lib/*").doesNotContain("/lib/quorum"));

        // when
        ScriptRun stop = done(server("stop"));

        // then
        assertThat(stop.out()).startsWith("stopped the broker (process " + field(status, "processId") + ")");
        assertThat(run(server("status")).exitCode()).isEqualTo(3);
        assertThat(done(server("stop")).out()).startsWith("no broker is running with " + data);
        try (Stream<Path> archives = Files.list(home.resolve("lib").resolve("cache"))) {
            assertThat(archives.map(file -> file.getFileName().toString()))
                    .as("the classes of the next start")
                    .anyMatch(name -> name.endsWith(".jsa"));
        }
        try (Stream<Path> inHome = Files.list(home)) {
            assertThat(inHome.map(file -> file.getFileName().toString())
                            // Not in offline builds.
                            .filter(name -> !name.equals("journalq.cdx.json")))
                    .as("nothing was written beside bin/")
                    .containsExactlyInAnyOrder(
                            "bin", "conf", "docs", "lib", "share", "CHANGELOG.md", "LICENSE", "README.md");
        }
    }

    @Test
    void shouldStartAtOnceWithItsMessagesWhenItWasKilled() throws Exception {
        // given
        done(onFreePorts(server("start")));
        ScriptRun before = done(server("status", "--output", "json"));
        done(command("journalq", "topics", "create", "orders", "--bootstrap", field(before, "address")));
        ScriptRun produce = ScriptRun.withInput(
                "a\nb\n",
                directory,
                environment(),
                command("journalq", "produce", "orders", "--bootstrap", field(before, "address")));

        // when
        ProcessHandle.of(Long.parseLong(field(before, "processId")))
                .orElseThrow()
                .destroyForcibly();
        ScriptRun start = done(onFreePorts(server("start")));

        // then
        assertThat(start.out()).startsWith("JournalQ is ready at 127.0.0.1:");
        String bootstrap = field(done(server("status", "--output", "json")), "address");
        ScriptRun consume = done(
                command("journalq", "consume", "orders", "--from=beginning", "--until=end", "--bootstrap", bootstrap));
        assertThat(produce.exitCode()).as(produce.err()).isZero();
        assertThat(consume.out().lines()).containsExactly("a", "b");
        done(server("stop"));
    }

    @Test
    void shouldStopABrokerThatRunsInTheForeground() throws Exception {
        // given
        Process broker = ScriptRun.prepare(directory, environment(), onFreePorts(server("start", "--foreground")))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("foreground.log").toFile())
                .start();
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        ScriptRun status = run(server("status"));
        while (status.exitCode() != 0) {
            assertThat(broker.isAlive())
                    .as(Files.readString(directory.resolve("foreground.log")))
                    .isTrue();
            assertThat(System.nanoTime()).as(status.out()).isLessThan(deadlineNs);
            Thread.sleep(CHECK_INTERVAL_MS);
            status = run(server("status"));
        }

        // when
        ScriptRun stop = done(server("stop"));

        // then
        assertThat(status.out()).startsWith("ready at 127.0.0.1:").contains("process " + broker.pid());
        assertThat(stop.out()).startsWith("stopped the broker (process " + broker.pid() + ")");
        assertThat(broker.waitFor(MAX_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readAllLines(directory.resolve("foreground.log")))
                .as("the log, one event a line")
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).startsWith("time="));
    }
}
