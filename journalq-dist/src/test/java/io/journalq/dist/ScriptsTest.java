package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the scripts do before Java runs; Java is a script here that says how it was called. */
class ScriptsTest {
    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();

    private static final int MAX_SECONDS = 60;
    private static final int CHECK_INTERVAL_MS = 20;

    @TempDir
    private Path directory;

    private Path home;

    @BeforeEach
    void copyScripts() throws IOException {
        home = Files.createDirectory(directory.resolve("checkout"));
        Files.createDirectories(home.resolve("bin/lib"));
        for (String file : List.of(
                "bin/journalq",
                "bin/journalq-server",
                "bin/cluster-up",
                "bin/cluster-down",
                "bin/lib/journalq-env.sh",
                "bin/lib/journalq-cluster.sh")) {
            Files.copy(CHECKOUT.resolve(file), home.resolve(file));
            assertThat(home.resolve(file).toFile().setExecutable(true)).isTrue();
        }
        Files.createFile(home.resolve("pom.xml"));
    }

    private void build() throws IOException {
        Files.createDirectories(lib());
    }

    private Path lib() {
        return home.resolve("journalq-dist/target/journalq-9/lib");
    }

    private Path fakeJava(String version) throws IOException {
        Path java = Files.createDirectories(directory.resolve("java-" + version));
        Files.writeString(java.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
        Path program = Files.createDirectory(java.resolve("bin")).resolve("java");
        Files.writeString(
                program, "#!/bin/sh\necho fake " + version + "\nfor word in \"$@\"; do echo \"$word\"; done\n");
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return java;
    }

    private ScriptRun run(Map<String, String> environment, String... command) throws IOException, InterruptedException {
        return ScriptRun.of(directory, environment, List.of(command));
    }

    @Test
    void shouldSayHowToBuildWhenTheCheckoutIsNotBuilt() throws IOException, InterruptedException {
        ScriptRun run = run(Map.of(), "checkout/bin/journalq", "topics", "list");

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err())
                .isEqualTo("journalq: not built yet; build with: mvn -f " + home.toRealPath()
                        + "/pom.xml -DskipTests package\n");
    }

    @Test
    void shouldNotSayThatAClusterRunsWhenNoBrokerCanBeStarted() throws IOException, InterruptedException {
        ScriptRun run = run(Map.of(), "checkout/bin/cluster-up", "--directory", "cluster");

        assertThat(run.exitCode()).as(run.out()).isEqualTo(1);
        assertThat(run.out()).doesNotContain("is running", "ready");
        assertThat(run.err()).contains("not built yet", "not all brokers started");
    }

    @Test
    void shouldNotLeaveASmallerClusterWhenTheConfigurationOfABrokerCannotBeWritten()
            throws IOException, InterruptedException {
        // given
        Path blocked = Files.createFile(
                Files.createDirectory(directory.resolve("cluster")).resolve("broker-2"));
        ScriptRun failed = run(Map.of(), "checkout/bin/cluster-up", "--directory", "cluster");
        assertThat(failed.exitCode()).as(failed.out()).isEqualTo(1);
        assertThat(directory.resolve("cluster/broker-1/journalq.yaml")).doesNotExist();

        // when
        Files.delete(blocked);
        run(Map.of(), "checkout/bin/cluster-up", "--directory", "cluster");

        // then
        for (int id = 1; id <= 3; id++) {
            assertThat(directory.resolve("cluster/broker-" + id + "/journalq.yaml"))
                    .isNotEmptyFile();
        }
    }

    @Test
    void shouldKeepAClusterWhenNobodyKnowsWhetherItRuns() throws IOException, InterruptedException {
        Path config =
                Files.createDirectories(directory.resolve("cluster/broker-1")).resolve("journalq.yaml");
        Files.writeString(config, "listeners: PLAINTEXT://localhost:9092\n");

        ScriptRun run = run(Map.of(), "checkout/bin/cluster-down", "--directory", "cluster", "--delete");

        assertThat(run.exitCode()).as(run.out()).isEqualTo(1);
        assertThat(run.err()).contains("not built yet", "not all brokers stopped");
        assertThat(config).exists();
    }

    @Test
    void shouldRunTheJavaOfJavaHomeWithHeapAndOptions() throws IOException, InterruptedException {
        // given
        build();
        Files.createFile(Files.createDirectory(home.resolve("conf")).resolve("journalq.yaml"));
        Map<String, String> environment = Map.of(
                "JAVA_HOME", fakeJava("17.0.15").toString(), "JOURNALQ_HEAP", "77m", "JOURNALQ_OPTS", "-Da=1 -Db=2");

        // when
        ScriptRun run =
                run(environment, "checkout/bin/journalq-server", "start", "--foreground", "--set", "node.name=a b");

        // then
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out().lines())
                .startsWith("fake 17.0.15", "-Xms77m", "-Xmx77m")
                .contains("-Da=1", "-Db=2")
                .endsWith(
                        "io.journalq.server.broker.BrokerMain",
                        "--config",
                        home.toRealPath() + "/conf/journalq.yaml",
                        "--set",
                        "node.name=a b")
                .doesNotContain("--enable-native-access=ALL-UNNAMED", "-XX:+UseCompactObjectHeaders");
    }

    @Test
    void shouldKeepTheClassesOfABrokerForItsNextStart() throws IOException, InterruptedException {
        build();
        Map<String, String> environment =
                Map.of("JAVA_HOME", fakeJava("17.0.15").toString());

        String kept = "-XX:ArchiveClassesAtExit=";
        Path archive = Path.of(archiveOption(environment, kept).substring(kept.length()));
        assertThat(archive.getParent()).isEqualTo(lib().toRealPath().resolve("cache"));

        // A process that was killed while it wrote leaves zeros.
        Files.write(archive, new byte[100]);
        assertThat(archiveOption(environment, kept)).endsWith(archive.toString());
        assertThat(archive).doesNotExist();
        Files.write(archive, new byte[] {1, 2, 3, 4, 5});
        assertThat(archiveOption(environment, "-XX:SharedArchiveFile=")).endsWith(archive.toString());

        // Other jars have an archive of their own.
        Files.writeString(lib().resolve("another.jar"), "x");
        assertThat(archiveOption(environment, kept)).doesNotEndWith(archive.toString());
        assertThat(archive).doesNotExist();
    }

    private String archiveOption(Map<String, String> environment, String option)
            throws IOException, InterruptedException {
        ScriptRun run = run(environment, "checkout/bin/journalq-server", "start", "--foreground");
        return run.out()
                .lines()
                .filter(line -> line.startsWith(option))
                .findFirst()
                .orElseThrow(() -> new AssertionError(run.out() + run.err()));
    }

    @Test
    void shouldUseWhatANewerJavaOffers() throws IOException, InterruptedException {
        build();

        ScriptRun run = run(Map.of("JAVA_HOME", fakeJava("25").toString()), "checkout/bin/journalq", "topics", "list");

        assertThat(run.out().lines())
                .startsWith("fake 25")
                .contains(
                        "-XX:+UseCompactObjectHeaders",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow")
                .endsWith("io.journalq.cli.JournalqMain", "topics", "list");
    }

    @Test
    void shouldKeepAConfigurationThatIsNamed() throws IOException, InterruptedException {
        build();
        Map<String, String> environment = Map.of("JAVA_HOME", fakeJava("21.0.2").toString());

        ScriptRun run =
                run(environment, "checkout/bin/journalq-server", "start", "--config", "my file.yaml", "--foreground");

        assertThat(run.out().lines())
                .endsWith("io.journalq.server.broker.BrokerMain", "--config", "my file.yaml")
                .doesNotContain("--foreground");
    }

    @Test
    void shouldStartInTheForegroundWhenATimeoutIsGiven() throws IOException, InterruptedException {
        build();
        Map<String, String> environment = Map.of("JAVA_HOME", fakeJava("21.0.2").toString());

        ScriptRun run = run(
                environment,
                "checkout/bin/journalq-server",
                "start",
                "--timeout",
                "5s",
                "--foreground",
                "--timeout=6s",
                "--set",
                "node.id=3");

        assertThat(run.out().lines()).endsWith("io.journalq.server.broker.BrokerMain", "--set", "node.id=3");
    }

    @Test
    void shouldRunAClusterInADirectoryWithSpaces() throws IOException, InterruptedException {
        // given a Java that says that each broker is ready
        build();
        Map<String, String> environment = Map.of("JAVA_HOME", fakeJava("21.0.2").toString());
        Path parent = Files.createDirectory(directory.resolve("my brokers"));

        // when
        ScriptRun up = ScriptRun.of(
                parent,
                environment,
                List.of(home.resolve("bin/cluster-up").toString(), "--brokers=2", "--directory=cluster"));
        ScriptRun down = ScriptRun.of(
                parent,
                environment,
                List.of(
                        home.resolve("bin/cluster-down").toString(),
                        "--delete",
                        "--directory=" + parent.resolve("cluster")));

        // then
        assertThat(up.exitCode()).as(up.err()).isZero();
        assertThat(up.out()).containsPattern("JOURNALQ_BOOTSTRAP=localhost:\\d+,localhost:\\d+\n");
        assertThat(down.exitCode()).as(down.err()).isZero();
        assertThat(down.out().lines())
                .containsSubsequence("stop", "--config", parent + "/cluster/broker-1/journalq.yaml");
        assertThat(parent.resolve("cluster")).doesNotExist();
    }

    @Test
    void shouldLookForAnotherJavaWhenJavaHomeIsTooOld() throws IOException, InterruptedException {
        build();
        Path old = fakeJava("1.8.0_412");

        ScriptRun run = run(Map.of("JAVA_HOME", old.toString()), "checkout/bin/journalq", "--version");

        assertThat(run.err()).contains("JAVA_HOME=" + old + " is not a Java 17 or newer; looking for another");
        assertThat(run.out()).doesNotContain("fake 1.8");
    }

    @Test
    void shouldFindJavaWhenTheUserHasNoHome() throws IOException, InterruptedException {
        // given a machine on which the only Java is that of the path, and a service without HOME
        build();
        Path env = home.resolve("bin/lib/journalq-env.sh");
        Files.writeString(env, Files.readString(env).replaceAll("/(usr|opt|Library)/", directory + "/nowhere/"));
        String path = fakeJava("17.0.15").resolve("bin") + ":/usr/bin:/bin";

        // when
        ScriptRun run =
                run(Map.of("PATH", path), "env", "-u", "HOME", "checkout/bin/journalq-server", "start", "--foreground");

        // then
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("fake 17.0.15\n");
    }

    @Test
    void shouldSayWhichJavaIsNeededWhenThereIsNone() throws IOException, InterruptedException {
        // given a machine on which the only Java is that of the path
        build();
        Path env = home.resolve("bin/lib/journalq-env.sh");
        Files.writeString(env, Files.readString(env).replaceAll("/(usr|opt|Library)/", directory + "/nowhere/"));
        Map<String, String> environment =
                Map.of("PATH", fakeJava("11.0.2").resolve("bin") + ":/usr/bin:/bin", "HOME", directory.toString());

        // when
        ScriptRun run = run(environment, "checkout/bin/journalq", "topics", "list");

        // then
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err())
                .isEqualTo("journalq: no Java 17 or newer found (that of the path is 11); install a JDK, or set"
                        + " JAVA_HOME to one\n");
    }

    /** Copies a quickstart whose commands only say in a file that they were called, and whose benchmark takes long. */
    private Path quickstart(Path calls) throws IOException {
        // What is consumed is what was produced.
        return quickstart(calls, "cat >" + directory + "/topic");
    }

    private Path quickstart(Path calls, String produce) throws IOException {
        build();
        Files.createFile(home.resolve("journalq-dist/target/journalq-9.tar.gz"));
        Path quickstart = Files.copy(CHECKOUT.resolve("bin/quickstart"), home.resolve("bin/quickstart"));
        assertThat(quickstart.toFile().setExecutable(true)).isTrue();
        for (String name : List.of("journalq", "journalq-server", "journalq-bench")) {
            Path program = home.resolve("bin").resolve(name);
            String script = "#!/bin/sh\necho " + name + " \"$1\" >>" + calls + "\ncase $1 in\n"
                    + "  produce) if [ " + name + " = journalq-bench ]; then exec sleep 600; fi; " + produce
                    + " ;;\n  consume) cat " + directory + "/topic ;;\nesac\n";
            Files.writeString(program, script);
            assertThat(program.toFile().setExecutable(true)).isTrue();
        }
        return quickstart;
    }

    @Test
    void shouldSayWhyWhenTheQuickstartCannotWrite() throws IOException, InterruptedException {
        Path quickstart = quickstart(directory.resolve("calls"), "echo 'journalq: disk full' >&2; exit 1");

        ScriptRun run = run(Map.of("JAVA_HOME", fakeJava("17").toString()), quickstart.toString());

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).isEqualTo("journalq: disk full\nquickstart: cannot write messages to topic quickstart\n");
    }

    @Test
    void shouldStopTheClusterThatAKilledQuickstartHasLeft() throws IOException, InterruptedException {
        // given
        Path calls = directory.resolve("calls");
        Path quickstart = quickstart(calls, "exit 1");
        Path broker = Files.createDirectories(home.resolve("data/quickstart/cluster/broker-1"));
        Files.writeString(broker.resolve("journalq.yaml"), "listeners: PLAINTEXT://localhost:9092\n");

        // when
        run(Map.of("JAVA_HOME", fakeJava("17").toString()), quickstart.toString());

        // then
        assertThat(Files.readAllLines(calls))
                .startsWith("journalq-server status", "journalq-server stop", "journalq-server start");
        assertThat(broker).doesNotExist();
    }

    @Test
    void shouldStopTheBrokerWhenTheQuickstartIsInterrupted() throws IOException, InterruptedException {
        // given
        Path calls = directory.resolve("calls");
        Path quickstart = quickstart(calls);

        // when
        Process run = ScriptRun.prepare(
                        directory,
                        Map.of("JAVA_HOME", fakeJava("17").toString()),
                        // A test run in the background ignores Ctrl-C.
                        List.of("env", "--default-signal=INT", "setsid", quickstart.toString()))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        while (!Files.exists(calls) || !Files.readString(calls).contains("journalq-bench produce")) {
            assertThat(run.isAlive() && System.nanoTime() < deadlineNs)
                    .as(Files.readString(directory.resolve("out")))
                    .isTrue();
            Thread.sleep(CHECK_INTERVAL_MS);
        }
        ScriptRun.of(directory, Map.of(), List.of("bash", "-c", "kill -INT -- -" + run.pid()));

        // then
        assertThat(run.waitFor(MAX_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(run.exitValue())
                .as(Files.readString(directory.resolve("out")))
                .isEqualTo(130);
        assertThat(Files.readAllLines(calls))
                .startsWith("journalq-server start", "journalq topics", "journalq produce", "journalq consume")
                .endsWith("journalq-bench produce", "journalq-server stop");
    }

    @Test
    void shouldBeAcceptedByThePlainestShell() throws IOException, InterruptedException {
        try (Stream<Path> scripts = Files.list(CHECKOUT.resolve("bin"))) {
            for (Path script : scripts.filter(Files::isRegularFile).toList()) {
                String shell = Files.readString(script).startsWith("#!/bin/sh") ? "sh" : "bash";
                ScriptRun run = run(Map.of(), shell, "-n", script.toString());
                assertThat(run.err()).as(script.toString()).isEmpty();
                assertThat(script).isExecutable();
            }
        }
    }
}
