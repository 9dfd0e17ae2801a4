package io.journalq.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.cli.JournalqMain;
import io.journalq.cli.ServerMain;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Producer;
import io.journalq.client.error.JournalQException;
import io.journalq.client.record.ProducerRecord;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Runs every example in the help of {@code bin/journalq} and {@code bin/journalq-server} in a shell, with a broker. */
@Tag("long")
class HelpExamplesTest {
    private static final Path BUILT = Path.of("target").toAbsolutePath();
    /** What a Kafka broker has in its metadata. */
    private static final Path KAFKA_USERS = Path.of(
                    "..", "journalq-cli", "src", "test", "resources", "kafka-4.3-users.dump")
            .toAbsolutePath();

    private static final Path WRITE_AHEAD_OF_KILLED_BROKER = Path.of(
                    "../journalq-server/src/test/resources/golden/write-ahead-1/write-ahead")
            .toAbsolutePath();
    private static final Terminal NOBODY = new Terminal(
            new ByteArrayInputStream(new byte[0]), new ByteArrayOutputStream(), new ByteArrayOutputStream(), "");
    private static final Pattern ADDRESS = Pattern.compile("\"address\" : \"([^\"]+)\"");
    /** Commands without an end wait for new messages. */
    private static final Pattern ENDLESS =
            Pattern.compile("journalq consume (?!.*(--until|--timeout|--max-messages)).*");

    /** Commands that need several brokers. */
    private static final Pattern OF_CLUSTER =
            Pattern.compile("journalq cluster (replicate|reassign|drain|remove|add-voter|remove-voter) .*");

    private static final Pattern BOOTSTRAP = Pattern.compile("JOURNALQ_BOOTSTRAP=(\\S+)");
    private static final int FENCED_SECONDS = 30;

    private static final ProducerRecord ONE = ProducerRecord.of("orders", "one".getBytes(UTF_8));
    private static final int ENDLESS_SECONDS = 3;
    /** An example reads ten messages of partition 3 from this offset on. */
    private static final int FIRST_READ_OFFSET = 1_500;

    private static final int PARTITIONS = 8;

    @TempDir
    private Path directory;

    private Path work;
    private final Map<String, String> environment = new HashMap<>();

    @BeforeEach
    void unpack() throws Exception {
        work = Files.createDirectory(directory.resolve("work"));
        Path archive;
        try (Stream<Path> files = Files.list(BUILT)) {
            archive = files.filter(file -> file.toString().endsWith(".tar.gz"))
                    .findFirst()
                    .orElseThrow();
        }
        done("tar xzf " + archive + " --strip-components=1 -C ..");
        for (String place : List.of("of-etc/bash_completion.d", "of-etc/journalq", "of-lib", "of-tmp")) {
            Files.createDirectories(directory.resolve(place));
        }
        environment.put("PATH", directory.resolve("bin") + ":" + System.getenv("PATH"));
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("XDG_CONFIG_HOME", directory.resolve("of-user").toString());
        environment.put("JOURNALQ_LISTENERS", "PLAINTEXT://127.0.0.1:0");
        environment.put("JOURNALQ_ADMIN_LISTENER", "127.0.0.1:0");
        environment.put("JOURNALQ_GATEWAY_LISTENER", "127.0.0.1:0");
        environment.put("JOURNALQ_WRITE_AHEAD_MAX_BYTES", "1MiB");
        // For the examples with rights.
        environment.put("JOURNALQ_AUTHORIZATION_ENABLED", "true");
        environment.put("JOURNALQ_SUPER_USERS", "User:ANONYMOUS");
        environment.put("JOURNALQ_AUDIT_ALLOWED_OPERATIONS", "true");
    }

    @AfterEach
    void stopBrokers() {
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory.toString()))
                .forEach(ProcessHandle::destroyForcibly);
    }

    /** The examples of a program's commands, without the explanation behind three spaces. */
    private static List<String> examples(CommandLine command) {
        List<String> examples = new ArrayList<>();
        for (String line : command.getCommandSpec().usageMessage().footer()) {
            if (command.getSubcommands().isEmpty()) {
                examples.add(line.strip().replaceFirst("   .*", ""));
            }
        }
        command.getSubcommands().values().forEach(child -> examples.addAll(examples(child)));
        return examples;
    }

    private static List<String> examplesOfClient(boolean ofJournals) {
        return examples(JournalqMain.commandLine(NOBODY)).stream()
                .filter(example -> example.contains("journalq journal ") == ofJournals)
                .filter(example -> !OF_CLUSTER.matcher(example).matches())
                .toList();
    }

    /** The example with directories, a port and an event of this test. */
    private String here(String example) {
        return example.replaceAll("(?:/var)?/(etc|lib|tmp)/", directory + "/of-$1/")
                .replace("9a3f51c07be2d684", "$(grep -om 1 '\"event\":\"[0-9a-f]*' audit.log | cut -c 10-)")
                .replace("0.0.0.0:9092", "0.0.0.0:0");
    }

    private ScriptRun run(String line) throws IOException, InterruptedException {
        return ScriptRun.of(work, environment, List.of("bash", "-o", "pipefail", "-c", line));
    }

    /** The line at a terminal, where a person types what it asks for. */
    private static String typed(String line, String... typed) {
        return "printf '%s\\n' " + String.join(" ", typed) + " | script -qec '" + line + "' /dev/null";
    }

    private ScriptRun done(String line) throws IOException, InterruptedException {
        ScriptRun run = run(line);
        assertThat(run.exitCode()).as("%s: %s%s", line, run.out(), run.err()).isZero();
        return run;
    }

    /** Checks an example, so that all wrong ones are reported together. */
    private void check(SoftAssertions softly, String example) throws IOException, InterruptedException {
        ScriptRun run = run(here(example));
        softly.assertThat(run.exitCode())
                .as("%s: %s%s", here(example), run.out(), run.err())
                .isZero();
    }

    /** Checks that a command that does not end by itself runs without a complaint. */
    private void checkEndless(SoftAssertions softly, String example) throws IOException, InterruptedException {
        Path complaints = work.resolve("endless.err");
        Process process = ScriptRun.prepare(work, environment, List.of("bash", "-c", "exec " + here(example)))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(complaints.toFile())
                .start();
        boolean ended = process.waitFor(ENDLESS_SECONDS, TimeUnit.SECONDS);
        process.destroy();
        process.waitFor();
        softly.assertThat(ended).as("%s ended", example).isFalse();
        softly.assertThat(complaints).as(example).isEmptyFile();
    }

    private void startBroker() throws IOException, InterruptedException {
        done("journalq-server start");
        Matcher address =
                ADDRESS.matcher(done("journalq-server status --output json").out());
        assertThat(address.find()).isTrue();
        environment.put("JOURNALQ_BOOTSTRAP", address.group(1));
    }

    /** Runs a command in this process, which is faster. Its failure is not one: what it removes may not exist. */
    private void prepare(String input, String words) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input.getBytes(UTF_8)),
                new ByteArrayOutputStream(),
                new ByteArrayOutputStream(),
                "");
        JournalqMain.commandLine(terminal)
                .execute((words + " --bootstrap " + environment.get("JOURNALQ_BOOTSTRAP")).split(" ", -1));
    }

    /** Creates what the examples need: two topics with messages, and two groups without members. */
    private void prepareTopics() {
        prepare("", "topics delete orders audit --if-exists");
        prepare("", "topics create orders audit --partitions " + PARTITIONS);
        prepare("one\ntwo\nthree\n", "produce orders");
        prepare("", "consume orders --group billing --from beginning --max-messages 3");
        prepare("", "consume orders --group audit --from beginning --max-messages 3");
        prepare("", "access grant --principal ada --operation write --topic orders");
        prepare("", "access grant --principal eve --operation all --topic * --deny");
    }

    @Test
    void shouldSucceedWhenAnExampleOfAClientCommandIsRun() throws Exception {
        // given
        startBroker();
        done("seq 9 | gzip > old.txt.gz && echo '{\"value\":\"one\"}' > orders.json");
        done("journalq profile add prod --bootstrap broker1.example.com:9092");
        SoftAssertions softly = new SoftAssertions();
        List<String> examples = examplesOfClient(false);
        assertThat(examples).hasSizeGreaterThan(40);
        try (Producer producer = Producer.builder()
                .bootstrapServers(environment.get("JOURNALQ_BOOTSTRAP"))
                .transactionalId("billing-1")
                .build()) {
            prepareTopics();
            // The certificate of an authority, for the examples with TLS.
            done(System.getProperty("java.home") + "/bin/keytool -genkeypair -alias authority -keyalg EC"
                    + " -dname CN=authority -validity 1 -keystore authority.p12 -storepass changeit && "
                    + System.getProperty("java.home") + "/bin/keytool -exportcert -rfc -alias authority"
                    + " -keystore authority.p12 -storepass changeit -file authority.pem");
            // The password of a user.
            done("echo correct horse battery staple > pw");
            // The audit log of this broker.
            done("grep -h '{\"audit\":1' ../logs/*.log > audit.log");
            producer.inTransaction(transaction -> transaction.send(ONE));
            for (String example : examples) {
                prepareTopics();
                if (example.contains("topics create")) {
                    prepare("", "topics delete orders audit --if-exists");
                }

                if (example.contains("--from " + FIRST_READ_OFFSET)) {
                    prepare("old\n".repeat(FIRST_READ_OFFSET) + "new\n".repeat(10), "produce orders --partition 3");
                }

                if (example.contains("--shift-by")) {
                    prepare("", "groups reset-offsets billing --topic orders --to-latest --execute");
                }

                // when / then
                if (example.contains("transactions abort")) {
                    assertThatThrownBy(() -> producer.inTransaction(transaction -> {
                                transaction.send(ONE);
                                check(softly, example);
                            }))
                            .as(example)
                            .isInstanceOf(JournalQException.class);
                } else if (ENDLESS.matcher(example).matches()) {
                    checkEndless(softly, example);
                } else {
                    check(softly, example);
                }
            }
        }
        softly.assertAll();
        done("journalq-server stop");
    }

    @Test
    void shouldSucceedWhenAnExampleForAClusterIsRun() throws Exception {
        // given
        environment.keySet().removeIf(name -> name.startsWith("JOURNALQ_"));
        Matcher bootstrap = BOOTSTRAP.matcher(
                done("cluster-up --directory " + directory + "/cluster").out());
        assertThat(bootstrap.find()).isTrue();
        environment.put("JOURNALQ_BOOTSTRAP", bootstrap.group(1));
        List<String> examples = new ArrayList<>(examples(JournalqMain.commandLine(NOBODY)).stream()
                .filter(example -> OF_CLUSTER.matcher(example).matches())
                .toList());
        assertThat(examples).hasSizeGreaterThan(7);
        // The last ones need a broker that has stopped.
        examples.sort(Comparator.comparing(example ->
                example.contains("cluster remove ") ? 2 : example.contains("cluster remove-voter ") ? 1 : 0));

        // when / then
        SoftAssertions softly = new SoftAssertions();
        boolean stopped = false;
        for (String example : examples) {
            if (example.contains("cluster remove")) {
                if (!stopped) {
                    done("journalq cluster drain 3 --execute");
                    stopThirdBroker();
                    stopped = true;
                }
            } else {
                prepare("", "topics delete orders audit --if-exists");
                prepare("", "topics create orders audit --partitions 2 --replication-factor 1");
            }
            check(softly, example);
        }
        softly.assertAll();
        done("cluster-down --directory " + directory + "/cluster");
    }

    private void stopThirdBroker() throws IOException, InterruptedException {
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory + "/cluster/broker-3"))
                .forEach(ProcessHandle::destroy);
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(FENCED_SECONDS);
        while (!done("journalq cluster describe").out().contains("fenced")) {
            assertThat(System.nanoTime()).as("the broker is fenced in time").isLessThan(deadlineNanos);
        }
    }

    @Test
    void shouldSucceedWhenAnExampleForJournalsIsRun() throws Exception {
        // given the data of a broker that is stopped
        startBroker();
        prepareTopics();
        done("journalq-server stop && cp -r ../data data");

        // when / then
        List<String> examples = examplesOfClient(true);
        assertThat(examples).hasSizeGreaterThan(5);
        SoftAssertions softly = new SoftAssertions();
        for (String example : examples) {
            if (example.contains("write-ahead")) {
                done("cp -r " + WRITE_AHEAD_OF_KILLED_BROKER + " data");
                check(softly, example);
                done("rm -r data/write-ahead");
            } else {
                check(softly, example);
            }
        }
        softly.assertAll();
    }

    @Test
    void shouldSucceedWhenAnExampleForBrokersIsRun() throws Exception {
        // given
        Files.writeString(directory.resolve("of-etc/journalq/journalq.yaml"), "data.directories: of-etc/data\n");
        Files.writeString(work.resolve("billing.password"), "pw\n");
        List<String> examples = examples(ServerMain.commandLine(NOBODY));
        assertThat(examples).hasSizeGreaterThan(5);

        for (String example : examples) {
            // when / then
            String line = here(example);
            String options = Stream.of("--config", "--set data.directories")
                    .filter(line::contains)
                    .findFirst()
                    .map(option -> line.substring(line.indexOf(option)))
                    .orElse("");
            if (example.contains(" users import")) {
                done("cp " + KAFKA_USERS + " users.dump && " + line);
                continue;
            }
            if (example.contains(" users add")) {
                done(example.contains("--password-file") ? line : typed(line, "pw", "pw"));
                continue;
            }
            if (example.contains("--foreground")) {
                done("(" + line + " > foreground.out 2>&1 &) ; until journalq-server status; do sleep 0.1; done");
            } else if (example.contains(" start")) {
                done(line);
            } else {
                done("journalq-server start " + options);
                done(line);
            }
            // A second stop fails if other brokers run on this machine.
            if (!example.contains(" stop")) {
                done("journalq-server stop " + options);
            }
        }
        assertThat(directory.resolve("of-lib/journalq")).isNotEmptyDirectory();
        assertThat(directory.resolve("of-etc/data")).isNotEmptyDirectory();
    }
}
