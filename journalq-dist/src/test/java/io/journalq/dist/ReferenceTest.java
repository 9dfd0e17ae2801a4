package io.journalq.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.JournalqMain;
import io.journalq.cli.shell.Terminal;
import io.journalq.server.broker.Broker;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ClientMetricsSettings;
import io.journalq.server.config.ConfigFileText;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.config.TopicSettings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Renders {@code docs/reference} from the code, and fails when a page there differs from it. */
class ReferenceTest {
    private static final Path REFERENCE = Path.of("..", "docs", "reference");
    private static final String REWRITE = "mvn -q -pl journalq-dist -am verify -Dtest=ConfigFileTest,ReferenceTest"
            + " -Djournalq.rewrite=true -Dsurefire.failIfNoSpecifiedTests=false";
    private static final int PAGE_COLUMNS = 120;
    private static final int USAGE_COLUMNS = 100;
    private static final int METRICS_TIMEOUT_SECONDS = 10;

    private static final String GENERATED =
            """

            <!-- Rendered from the code. To render it again, run:
            %s -->
            """
                    .formatted(REWRITE.replace(" -Dtest", "\n  -Dtest"));

    private static final Pattern HELP_LINE = Pattern.compile("(?m)^# HELP (\\S+) (.*)$");
    private static final Pattern TYPE_LINE = Pattern.compile("(?m)^# TYPE (\\S+) (\\S+)$");
    private static final Pattern SAMPLE_LINE = Pattern.compile("(?m)^([a-z0-9_]+)\\{(.*)} ");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

    /** Metrics of the JVM and the process that every supported JVM has. */
    private static final List<String> PROCESS_METRICS = List.of(
            "jvm_buffer_memory_used_bytes",
            "jvm_memory_max_bytes",
            "jvm_memory_used_bytes",
            "jvm_threads_live_threads",
            "jvm_threads_states_threads",
            "process_cpu_usage",
            "process_files_max_files",
            "process_files_open_files",
            "process_uptime_seconds",
            "system_cpu_usage",
            "system_load_average_1m");

    @TempDir
    private Path directory;

    @Test
    void shouldListEverySettingWhenTheReferenceIsRendered() throws IOException {
        StringBuilder page = new StringBuilder("# Settings\n").append(GENERATED);
        page.append(
                """

                [`conf/journalq.yaml`](../../conf/journalq.yaml) lists the broker's settings with their defaults.
                [The operations guide](../guides/operations.md#settings) explains how to set them.

                Sizes may end in B, KiB, MiB, GiB or TiB, and times in ms, s, m, h or d.

                ## Broker settings

                A broker reads these settings when it starts.
                """);
        appendSettings(
                page,
                BrokerSettings.ALL.all().stream()
                        .filter(key -> TopicSettings.ALL.find(key.name()) == null
                                && TopicSettings.WITHOUT_EFFECT.find(key.name()) == null)
                        .toList());
        page.append(
                """

                ## Topic settings

                A topic setting takes effect at once. A broker setting of the same name is the default for topics that
                do not set it.
                """);
        appendSettings(
                page,
                TopicSettings.ALL.all().stream()
                        .filter(key -> TopicSettings.WITHOUT_EFFECT.find(key.name()) == null)
                        .toList());
        page.append(
                """

                ## Topic settings without effect

                JournalQ accepts these settings of Kafka topics, checks and shows them, but does not act on them.
                """);
        appendSettings(page, TopicSettings.WITHOUT_EFFECT.all());
        page.append(
                """

                ## Group settings

                These settings apply to consumer groups of the consumer protocol (KIP-848). The broker settings with the
                prefix `group.` are the defaults.
                """);
        appendSettings(page, GroupSettings.ALL.all());
        page.append(
                """

                ## Client metrics settings

                These settings belong to a subscription of client metrics (KIP-714).
                """);
        appendSettings(page, ClientMetricsSettings.ALL.all());

        compare("settings.md", page.toString());
    }

    private static void appendSettings(StringBuilder page, Collection<? extends ConfigKey<?>> keys) {
        for (ConfigKey<?> key : keys) {
            page.append("\n### `").append(key.name()).append("`\n\n");
            appendWrapped(page, key.documentation().replaceAll("<(\\w+)>", "\\\\<$1>"));
            page.append("\nType: ")
                    .append(ConfigFileText.typeWords(key))
                    .append(". Default: ")
                    .append(ConfigFileText.defaultWords(key))
                    .append(".\n");
        }
    }

    private static void appendWrapped(StringBuilder page, String sentences) {
        int column = 0;
        for (String word : sentences.split(" ", -1)) {
            if (column > 0 && column + 1 + word.length() > PAGE_COLUMNS) {
                page.append('\n');
                column = 0;
            }
            page.append(column == 0 ? "" : " ").append(word);
            column += (column == 0 ? 0 : 1) + word.length();
        }
        page.append('\n');
    }

    @Test
    void shouldListEveryCommandWhenTheReferenceIsRendered() throws IOException {
        StringBuilder page = new StringBuilder("# Commands\n").append(GENERATED);
        page.append(
                """

                The output of `--help` of every program in `bin/` and of every command.
                """);
        for (CommandLine program : DocumentedCommandsTest.programs()) {
            page.append("\n## ").append(program.getCommandName()).append('\n');
            appendUsage(page, program);
            program.getSubcommands().values().forEach(command -> appendCommand(page, command));
        }

        compare("commands.md", page.toString());
    }

    private static void appendCommand(StringBuilder page, CommandLine command) {
        page.append("\n### ").append(command.getCommandSpec().qualifiedName()).append('\n');
        appendUsage(page, command);
        command.getSubcommands().values().forEach(child -> appendCommand(page, child));
    }

    private static void appendUsage(StringBuilder page, CommandLine command) {
        String usage = command.setUsageHelpWidth(USAGE_COLUMNS).getUsageMessage(CommandLine.Help.Ansi.OFF);
        page.append("\n```text\n");
        usage.strip().lines().forEach(line -> page.append(line.stripTrailing()).append('\n'));
        page.append("```\n");
    }

    @Test
    void shouldListEveryMetricWhenTheReferenceIsRendered() throws Exception {
        String metrics = metricsOfABrokerWithTraffic();
        Map<String, String> types = new TreeMap<>();
        Map<String, String> helps = new TreeMap<>();
        Map<String, Set<String>> labels = new TreeMap<>();
        collect(TYPE_LINE, metrics, types);
        collect(HELP_LINE, metrics, helps);
        Matcher sample = SAMPLE_LINE.matcher(metrics);
        while (sample.find()) {
            String name = sample.group(1).replaceFirst("_bucket$", "");
            Matcher label = LABEL.matcher(sample.group(2));
            while (label.find()) {
                if (!label.group(1).equals("le")) {
                    labels.computeIfAbsent(name, any -> new TreeSet<>()).add("`" + label.group(1) + "`");
                }
            }
        }
        StringBuilder page = new StringBuilder("# Metrics\n").append(GENERATED);
        page.append(
                """

                The broker serves its metrics at `/metrics` of `admin.listener` (default: `http://localhost:9644/metrics`)
                in the Prometheus text format. [The operations guide](../guides/operations.md#metrics) explains which of
                them to alert on.

                ## Broker metrics

                | Name | Type | Labels | Meaning |
                |---|---|---|---|
                """);
        types.keySet().stream()
                .filter(name -> name.startsWith("journalq_"))
                .forEach(name -> appendMetric(page, name, types, labels, helps));
        page.append(
                """

                | Label | Value |
                |---|---|
                | `shard` | number of the event loop, from 0 |
                | `api` | name of the API in the Kafka protocol |
                | `error` | name of the error code in the Kafka protocol |
                | `limit` | name of the setting, or of the fixed limit |
                | `part` | kind of state or of memory |
                | `allocator` | name of the buffer allocator |
                | `topic` | name of the topic; `(other)` for all topics beyond `metrics.topics.max` |
                | `group` | id of the group |
                | `reason` | why TLS ended the connection ([security](../guides/security.md#what-happens-inside)) |
                | `route` | method and path of the route |
                | `status` | status of the response |
                | `problem` | type of the problem, as in `urn:journalq:problem:type` |
                | `version` | version of the broker |
                | `java_version` | version of the JVM |

                `journalq_requests_total`, `journalq_request_duration_seconds` and `journalq_partition_errors_total` have a
                series for each API and error that occurred at least once. Metrics of topics and of group lag have a limited
                number of series ([operations](../guides/operations.md#series-of-topics-and-groups)).

                ## Process and JVM metrics

                Micrometer defines these metrics. A JVM may serve more of them, for example `jvm_gc_pause_seconds` after the
                first garbage collection. Those count garbage collections after the page was first read; all other metrics
                count from the start of the broker.

                | Name | Type | Labels | Meaning |
                |---|---|---|---|
                """);
        PROCESS_METRICS.forEach(name -> appendMetric(page, name, types, labels, helps));

        compare("metrics.md", page.toString());
    }

    private static void collect(Pattern line, String metrics, Map<String, String> values) {
        Matcher matcher = line.matcher(metrics);
        while (matcher.find()) {
            values.put(matcher.group(1), matcher.group(2));
        }
    }

    private static void appendMetric(
            StringBuilder page,
            String name,
            Map<String, String> types,
            Map<String, Set<String>> labels,
            Map<String, String> helps) {
        assertThat(types).as("metrics that the broker serves").containsKey(name);
        page.append("| `%s` | %s | %s | %s |%n"
                .formatted(
                        name,
                        types.get(name),
                        String.join(", ", labels.getOrDefault(name, Set.of())),
                        helps.getOrDefault(name, "").strip()));
    }

    /** The page of a broker that accepted a record and refused another, and has a group, so that every metric has a series. */
    private String metricsOfABrokerWithTraffic() throws Exception {
        List<String> settings = List.of(
                "listeners=PLAINTEXT://127.0.0.1:0",
                "admin.listener=127.0.0.1:0",
                "gateway.listener=127.0.0.1:0",
                "data.directories=" + directory);
        try (Broker broker = Broker.start(BrokerConfigLoader.load(null, Map.of(), settings))) {
            String bootstrap = broker.bootstrapServers();
            runCommand("", "topics", "create", "t", "--config", "max.message.bytes=1000", "--bootstrap", bootstrap);
            assertThat(runCommand("hello\n", "produce", "t", "--bootstrap", bootstrap))
                    .isZero();
            String[] commit = {
                "groups", "reset-offsets", "g", "--topic", "t", "--to-earliest", "--execute", "--bootstrap", bootstrap
            };
            assertThat(runCommand("", commit)).isZero();
            assertThat(runCommand("x".repeat(2_000) + "\n", "produce", "t", "--bootstrap", bootstrap))
                    .isNotZero();
            page(broker.gatewayPort(), "/v1/topics/t/records");
            return page(broker.adminPort(), "/metrics");
        }
    }

    private static String page(int port, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(METRICS_TIMEOUT_SECONDS))
                .build();
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static int runCommand(String input, String... words) {
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input.getBytes(UTF_8)),
                new ByteArrayOutputStream(),
                new ByteArrayOutputStream(),
                "");
        return JournalqMain.commandLine(terminal).execute(words);
    }

    private static void compare(String name, String expected) throws IOException {
        Path page = REFERENCE.resolve(name);
        if (Boolean.getBoolean("journalq.rewrite")) {
            Files.createDirectories(REFERENCE);
            Files.writeString(page, expected);
        }
        assertThat(Files.exists(page) ? Files.readString(page) : "")
                .as("docs/reference/%s differs from the code; render it again with: %s", name, REWRITE)
                .isEqualTo(expected);
    }
}
