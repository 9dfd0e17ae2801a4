package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the archive holds what the broker and the tools use, and no more, and that it lists all of it. */
class ArchiveContentsTest {
    /** Jars with classes that are found by name when a program runs. No class outside refers to those classes. */
    private static final Set<String> LOADED_BY_NAME = Set.of(
            // Files without classes.
            "journalq-console",
            "netty-tcnative-boringssl-static",
            "netty-transport-native-epoll",
            "slf4j-jdk-platform-logging",
            "ratis-metrics-default",
            // Annotations of Micrometer. ratis-thirdparty-misc has a copy of them, which jdeps may find first.
            "jspecify");

    private static final Pattern EDGE = Pattern.compile("(\\S+) -> .*?([^/\\s]+\\.jar)");
    private static final Pattern PACKAGE_URL = Pattern.compile("pkg:maven/[^/]+/([^@]+)@([^?]+)(?:\\?(.*))?");
    private static final Pattern CLASSIFIER = Pattern.compile("classifier=([^&]+)");

    @TempDir
    private static Path directory;

    private static Path home;

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        home = UnpackedArchive.in(Files.createDirectory(directory.resolve("a path with spaces")));
    }

    @Test
    void shouldHoldNoClientOfAnotherBrokerWhenPackaged() throws Exception {
        assertThat(names(jars()))
                .contains("journalq-server", "journalq-quorum", "journalq-bench", "kafka-clients")
                .doesNotContain("jnats", "stream-client", "amqp-client", "proton-j", "bcprov-lts8on", "netty-codec")
                .doesNotContain("junit-jupiter", "assertj-core", "journalq-embedded", "journalq-client-integrations")
                .doesNotContain("journalq-spring-boot-starter", "spring-core", "asciidoctorj", "jruby");
        assertThat(home.resolve("lib").resolve("peers")).doesNotExist();
    }

    @Test
    void shouldKeepTestToolsAndTheirLibrariesApartWhenPackaged() throws Exception {
        assertThat(names(jarsIn(home.resolve("lib"))))
                .contains("journalq-server", "journalq-client", "HdrHistogram", "lz4-java")
                .doesNotContain("journalq-bench", "journalq-sim", "journalq-chaos", "journalq-quorum", "ratis-server")
                .doesNotContain("kafka-clients", "jmh-core", "jopt-simple", "commons-math3");
        assertThat(names(jarsIn(home.resolve("lib/bench"))))
                .contains("journalq-bench", "journalq-sim", "journalq-chaos", "kafka-clients", "jmh-core")
                .doesNotContain("journalq-server", "journalq-common");
        assertThat(names(jarsIn(home.resolve("lib/quorum")))).contains("journalq-quorum", "ratis-server");

        ScriptRun help = run("journalq-bench", "produce", "--help");
        assertThat(help.exitCode()).as(help.err()).isZero();
        assertThat(help.out()).contains("--case");
    }

    @Test
    void shouldShowTheVersionAndCompleteInTheShellWhenAnyProgramIsAsked() throws Exception {
        for (String program :
                List.of("journalq", "journalq-server", "journalq-bench", "journalq-sim", "journalq-chaos")) {
            ScriptRun version = run(program, "--version");
            ScriptRun completion = run(program, "completion");
            Path script = Files.writeString(directory.resolve(program), completion.out());
            ScriptRun bash = ScriptRun.of(
                    directory, Map.of(), List.of("bash", "-c", "source " + script + " && complete -p " + program));

            assertThat(version.exitCode()).as(version.err()).isZero();
            assertThat(version.err()).isEmpty();
            assertThat(version.out()).startsWith("JournalQ ").doesNotContain("not packaged");
            assertThat(completion.exitCode()).as(completion.err()).isZero();
            assertThat(completion.out()).contains("--help");
            assertThat(bash.exitCode()).as(bash.err()).isZero();
        }
    }

    private static ScriptRun run(String program, String... arguments) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(home.resolve("bin").resolve(program).toString()));
        command.addAll(List.of(arguments));
        return ScriptRun.of(directory, Map.of("JAVA_HOME", System.getProperty("java.home")), command);
    }

    @Test
    void shouldSayWhereAComparisonRunsWhenItsClientIsNotInTheArchive() throws Exception {
        for (String broker : List.of("nats", "jetstream", "rabbitmq-streams", "rabbitmq-quorum")) {
            ScriptRun run = run("journalq-bench", "matrix", "--brokers", broker);

            assertThat(run.exitCode()).as(run.err()).isEqualTo(1);
            assertThat(run.err())
                    .isEqualTo("journalq-bench: the archive does not contain a client of " + broker
                            + "; run bin/journalq-bench of a source checkout\n");
        }
    }

    @Test
    void shouldListEveryJarAndNothingElseInTheBillOfMaterials() throws Exception {
        // given
        assumeFalse(Boolean.getBoolean("journalq.offline"), "Maven writes no bill of materials when it is offline");
        JsonNode bill =
                new ObjectMapper().readTree(home.resolve("journalq.cdx.json").toFile());

        // when
        Set<String> listed = new TreeSet<>();
        for (JsonNode component : bill.get("components")) {
            listed.add(fileName(component.get("purl").asText()));
            assertThat(component.get("hashes"))
                    .as(component.get("name").asText())
                    .isNotEmpty();
        }

        // then
        assertThat(bill.get("bomFormat").asText()).isEqualTo("CycloneDX");
        assertThat(listed)
                .isEqualTo(
                        jars().stream().map(jar -> jar.getFileName().toString()).collect(Collectors.toSet()));
    }

    @Test
    @Tag("long")
    void shouldHoldNoJarThatNoProgramUsesWhenPackaged() throws Exception {
        // given
        List<String> arguments = new ArrayList<>(List.of(
                "--multi-release",
                "17",
                "--ignore-missing-deps",
                "--recursive",
                "-summary",
                "--class-path",
                jars().stream().map(Path::toString).collect(Collectors.joining(":"))));
        // Ratis's API finds its server by name, too. The server refers to jars that nothing else refers to.
        jars().stream()
                .filter(jar -> name(jar).startsWith("journalq-") || name(jar).equals("ratis-server"))
                .map(Path::toString)
                .forEach(arguments::add);

        // when
        StringWriter out = new StringWriter();
        int exitCode = ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(new PrintWriter(out), new PrintWriter(out), arguments.toArray(String[]::new));

        // then
        assertThat(exitCode).as(out.toString()).isZero();
        Set<String> used = new TreeSet<>();
        Matcher edge = EDGE.matcher(out.toString());
        while (edge.find()) {
            used.add(edge.group(1));
            used.add(edge.group(2));
        }
        assertThat(jars().stream()
                        .filter(jar -> !used.contains(jar.getFileName().toString()))
                        .filter(jar -> !LOADED_BY_NAME.contains(name(jar))))
                .as("exclude them where they are declared, or add them to LOADED_BY_NAME")
                .isEmpty();
    }

    private static String fileName(String packageUrl) {
        Matcher parts = PACKAGE_URL.matcher(packageUrl);
        assertThat(parts.matches()).as(packageUrl).isTrue();
        Matcher classifier = CLASSIFIER.matcher(String.valueOf(parts.group(3)));
        return parts.group(1) + "-" + parts.group(2) + (classifier.find() ? "-" + classifier.group(1) : "") + ".jar";
    }

    private static List<Path> jars() throws IOException {
        try (Stream<Path> files = Files.walk(home.resolve("lib"))) {
            return files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
    }

    private static List<Path> jarsIn(Path lib) throws IOException {
        try (Stream<Path> files = Files.list(lib)) {
            return files.filter(file -> file.toString().endsWith(".jar")).toList();
        }
    }

    private static List<String> names(List<Path> jars) {
        return jars.stream().map(ArchiveContentsTest::name).toList();
    }

    /** The name of a jar without its version. */
    private static String name(Path jar) {
        return jar.getFileName().toString().replaceFirst("-\\d.*", "");
    }
}
