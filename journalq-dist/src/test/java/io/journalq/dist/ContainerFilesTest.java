package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs what {@code Dockerfile} and {@code compose.yaml} run, without Docker: the entry point and the health check, in an
 * unpacked archive, with the environment of these files. If the tests run as root, the broker runs as the user of the image.
 */
@Tag("long")
class ContainerFilesTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final String HOME = "/opt/journalq";
    private static final String DATA = "/var/lib/journalq";
    private static final int MAX_SECONDS = 90;
    private static final int CHECK_INTERVAL_MS = 200;

    @TempDir
    private Path directory;

    private List<String> dockerfile;
    private Path home;
    private Path data;
    private final int port = LoopbackPorts.next();
    private final int hostPort = LoopbackPorts.next();
    private Process broker;

    @BeforeEach
    void unpack() throws IOException, InterruptedException {
        dockerfile = Files.readAllLines(CHECKOUT.resolve("Dockerfile"));
        home = UnpackedArchive.in(Files.createDirectory(directory.resolve("home")));
        data = Files.createDirectory(directory.resolve("data"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        if (isRoot()) {
            ScriptRun owner = ScriptRun.of(directory, Map.of(), List.of("chown", user(), data.toString()));
            assertThat(owner.exitCode()).as(owner.err()).isZero();
        }
    }

    @AfterEach
    void stopTheBroker() throws InterruptedException {
        if (broker != null) {
            broker.destroy();
            if (!broker.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
                broker.destroyForcibly();
            }
        }
    }

    @Test
    void shouldServeEveryInterfaceAsItsOwnUserWhenTheEntryPointOfTheImageRuns() throws Exception {
        // given
        assertThat(user()).as("no root").doesNotStartWith("0");
        Map<String, String> environment = environmentOfTheImage();

        // when
        start(environment);

        // then
        assertThat(health(environment).exitCode()).isZero();
        assertThat(Files.getOwner(data.resolve("journalq.identity")).getName()).isEqualTo(expectedOwner());
        ScriptRun create = journalq(environment, "127.0.0.2:" + port, "topics", "create", "greetings");
        assertThat(create.exitCode()).as(create.err()).isZero();
        assertThat(lines("EXPOSE ")).containsExactly("9092 9644");

        // when
        broker.destroy();

        // then
        assertThat(broker.waitFor(MAX_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(health(environment).exitCode()).as("not running").isEqualTo(3);
    }

    @Test
    void shouldServeProgramsOfTheHostWhenStartedWithTheEnvironmentOfCompose() throws Exception {
        // given
        JsonNode service = new ObjectMapper(new YAMLFactory())
                .readTree(CHECKOUT.resolve("compose.yaml").toFile())
                .at("/services/journalq");
        assertThat(service.at("/ports").toString()).contains("127.0.0.1:9092:19092", "127.0.0.1:9644:9644");
        assertThat(service.at("/volumes/0").asText()).endsWith(":" + DATA);
        Map<String, String> environment = environmentOfTheImage();
        service.get("environment")
                .properties()
                .forEach(variable -> environment.put(
                        variable.getKey(), here(variable.getValue().asText())));

        // when
        start(environment);

        // then a client that follows the advertised address reaches the broker; it could not resolve "journalq"
        ScriptRun create = journalq(environment, "127.0.0.1:" + hostPort, "topics", "create", "greetings");
        assertThat(create.exitCode()).as(create.err()).isZero();
        ScriptRun list = journalq(environment, "127.0.0.1:" + hostPort, "topics", "list");
        assertThat(list.out()).contains("greetings");
    }

    private void start(Map<String, String> environment) throws Exception {
        Path log = directory.resolve("log");
        broker = ScriptRun.prepare(
                        data, environment, asUser(words(lines("ENTRYPOINT ").get(0))))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        while (health(environment).exitCode() != 0) {
            assertThat(broker.isAlive()).as(Files.readString(log)).isTrue();
            assertThat(System.nanoTime()).as(Files.readString(log)).isLessThan(deadlineNs);
            Thread.sleep(CHECK_INTERVAL_MS);
        }
    }

    private ScriptRun health(Map<String, String> environment) throws IOException, InterruptedException {
        String line = lines("HEALTHCHECK ").get(0);
        return ScriptRun.of(data, environment, asUser(words(line.substring(line.indexOf("CMD ") + "CMD ".length()))));
    }

    private ScriptRun journalq(Map<String, String> environment, String bootstrap, String... words)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(home.resolve("bin/journalq").toString()));
        command.addAll(List.of(words));
        command.addAll(List.of("--bootstrap", bootstrap));
        return ScriptRun.of(data, environment, command);
    }

    private Map<String, String> environmentOfTheImage() {
        Map<String, String> environment = new HashMap<>();
        // The base image sets it.
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        for (String assignment : lines("ENV ")) {
            String[] parts = assignment.split("=", 2);
            environment.put(parts[0], here(parts[1]));
        }
        assertThat(environment).containsKeys("JOURNALQ_LISTENERS", "JOURNALQ_ADMIN_LISTENER");
        return environment;
    }

    /** The command as the user of the image, if this process may choose a user. */
    private List<String> asUser(List<String> command) {
        if (!isRoot()) {
            return command;
        }
        String[] ids = user().split(":", 2);
        List<String> all = new ArrayList<>(List.of("setpriv", "--reuid", ids[0], "--regid", ids[1], "--clear-groups"));
        all.addAll(command);
        return all;
    }

    private String user() {
        return lines("USER ").get(0);
    }

    private String expectedOwner() {
        return isRoot() ? user().split(":", 2)[0] : System.getProperty("user.name");
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    /** The arguments of an instruction of the last stage, one string for each time it is used. */
    private List<String> lines(String instruction) {
        return dockerfile.stream()
                .filter(line -> line.startsWith(instruction))
                .map(line -> line.substring(instruction.length()).strip())
                .toList();
    }

    private List<String> words(String json) throws IOException {
        List<String> words = new ArrayList<>();
        for (JsonNode word : new ObjectMapper().readTree(json)) {
            words.add(here(word.asText()));
        }
        return words;
    }

    /** A text of the files with the paths and ports of this test. */
    private String here(String text) {
        return text.replaceAll(Pattern.quote(HOME) + "\\b", home.toString())
                .replace(DATA, data.toString())
                .replace("localhost:9092", "localhost:" + hostPort)
                .replace(":19092", ":" + hostPort)
                .replace(":9092", ":" + port)
                .replace("0.0.0.0:9644", "127.0.0.1:0");
    }
}
