package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the metrics and labels in the dashboard and in the alert rules exist on the page of a broker. */
class MonitoringFilesTest {
    /** Surefire runs in the directory of the module. */
    private static final Path DASHBOARD = Path.of("..", "conf", "grafana", "journalq.json");

    private static final Path ALERTS = Path.of("..", "conf", "prometheus", "journalq-alerts.yaml");

    private static final Pattern SAMPLE = Pattern.compile("(?m)^([a-z0-9_]+)(?:\\{(.*)})? \\S+$");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");
    private static final Pattern STRING = Pattern.compile("\"[^\"]*\"");
    private static final Pattern RANGE = Pattern.compile("\\[[^]]*]");
    private static final Pattern GROUPING = Pattern.compile("\\bby \\(([^)]*)\\)");
    private static final Pattern SELECTOR = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("([A-Za-z_]+)\\s*(?:=~|!~|!=|=)");
    private static final Pattern TEMPLATE_LABEL = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?([a-z_]+) ?}}");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((\\w+), (\\w+)\\)");

    private static final Set<String> FUNCTIONS =
            Set.of("sum", "max", "rate", "increase", "topk", "histogram_quantile", "or", "and");

    /** Prometheus adds these labels and this metric to every target that it scrapes. */
    private static final Set<String> SCRAPE_LABELS = Set.of("instance", "job");

    private static final String UP = "up";

    @TempDir
    private Path directory;

    @Test
    void shouldUseOnlyMetricsAndLabelsThatTheBrokerServes() throws Exception {
        Map<String, Set<String>> served = labelsByMetric(pageOfABrokerWithTraffic());

        List<String> problems = new ArrayList<>();
        for (Path file : List.of(DASHBOARD, ALERTS)) {
            List<Query> queries = queries(file);
            assertThat(queries).as("queries of %s", file).hasSizeGreaterThan(10);
            queries.forEach(query -> problems.addAll(problems(query, served)));
        }

        assertThat(problems).isEmpty();
    }

    @Test
    void shouldNameTheProblemWhenAQueryUsesWhatTheBrokerDoesNotServe() {
        Map<String, Set<String>> served = Map.of("journalq_a_total", Set.of("topic"));

        assertThat(problems(new Query("sum by (shard) (rate(journalq_a_total{api=\"x\"}[5m]))", "{{part}}"), served))
                .containsExactly(
                        "no label api: journalq_a_total",
                        "no label shard: sum by (shard) (rate(journalq_a_total{api=\"x\"}[5m]))",
                        "no label part: sum by (shard) (rate(journalq_a_total{api=\"x\"}[5m]))");
        assertThat(problems(new Query("rat(journalq_a) > 1", ""), served))
                .containsExactly("neither a metric nor a function: rat", "neither a metric nor a function: journalq_a");
        assertThat(problems(new Query("rate(journalq_a_total{topic=\"x\"}[5m])", "{{topic}} {{instance}}"), served))
                .isEmpty();
    }

    /**
     * A query to Prometheus.
     *
     * @param text shown with the result, with labels in braces
     */
    private record Query(String expression, String text) {}

    private static List<String> problems(Query query, Map<String, Set<String>> served) {
        List<String> problems = new ArrayList<>();
        Set<String> labels = new TreeSet<>(SCRAPE_LABELS);
        String bare = RANGE.matcher(STRING.matcher(query.expression()).replaceAll("''"))
                .replaceAll("");
        Matcher selector = SELECTOR.matcher(GROUPING.matcher(bare).replaceAll(""));
        while (selector.find()) {
            String name = selector.group(1);
            if (served.containsKey(name)) {
                Set<String> ofMetric = new TreeSet<>(served.get(name));
                labels.addAll(ofMetric);
                ofMetric.addAll(SCRAPE_LABELS);
                addMissing(problems, MATCHER, selector.group(2) == null ? "" : selector.group(2), ofMetric, name);
            } else if (!FUNCTIONS.contains(name) && !name.equals(UP)) {
                problems.add("neither a metric nor a function: " + name);
            }
        }
        Matcher grouping = GROUPING.matcher(bare);
        while (grouping.find()) {
            addMissing(problems, Pattern.compile("(\\w+)"), grouping.group(1), labels, query.expression());
        }
        addMissing(problems, TEMPLATE_LABEL, query.text(), labels, query.expression());
        return problems;
    }

    private static void addMissing(
            List<String> problems, Pattern pattern, String text, Set<String> labels, String place) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            if (!labels.contains(matcher.group(1))) {
                problems.add("no label " + matcher.group(1) + ": " + place);
            }
        }
    }

    /** The queries of a dashboard or of a file with rules, in which the text follows the expression. */
    private static List<Query> queries(Path file) throws IOException {
        List<Query> queries = new ArrayList<>();
        JsonFactory format = file.toString().endsWith(".json") ? new JsonFactory() : new YAMLFactory();
        String expression = null;
        try (JsonParser parser = format.createParser(Files.readString(file))) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token != JsonToken.VALUE_STRING) {
                    continue;
                }
                switch (parser.currentName() == null ? "" : parser.currentName()) {
                    case "expr" -> expression = parser.getText();
                    case "legendFormat", "summary" -> queries.add(new Query(expression, parser.getText()));
                    case "definition" -> {
                        Matcher values = LABEL_VALUES.matcher(parser.getText());
                        assertThat(values.matches()).as(parser.getText()).isTrue();
                        queries.add(new Query("sum by (" + values.group(2) + ") (" + values.group(1) + ")", ""));
                    }
                    default -> {}
                }
            }
        }
        return queries;
    }

    private static Map<String, Set<String>> labelsByMetric(String page) {
        Map<String, Set<String>> labels = new HashMap<>();
        Matcher sample = SAMPLE.matcher(page);
        while (sample.find()) {
            Set<String> ofMetric = labels.computeIfAbsent(sample.group(1), none -> new TreeSet<>());
            Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
            while (label.find()) {
                ofMetric.add(label.group(1));
            }
        }
        return labels;
    }

    /** The page of a broker that accepted a batch and refused another, and has a group. */
    private String pageOfABrokerWithTraffic() throws Exception {
        try (TestBroker broker =
                new TestBroker(directory).with("admin.listener", "127.0.0.1:0").start()) {
            broker.createTopic("t", 1, Map.of());
            try (WireClient client = new WireClient(broker.port())) {
                client.produce("t", 0, WireClient.batch(7, new byte[100]));
                client.produce("missing", 0, WireClient.batch(1, new byte[1]));
            }
            try (Admin admin = broker.admin()) {
                admin.alterConsumerGroupOffsets("g", Map.of(new TopicPartition("t", 0), new OffsetAndMetadata(3)))
                        .all()
                        .get(20, TimeUnit.SECONDS);
            }
            return broker.page("/metrics").body();
        }
    }
}
