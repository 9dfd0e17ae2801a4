package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/** What refused input leaves behind while this is open: lines in the log, warnings and errors, and counters that grow. */
final class InputTrace implements AutoCloseable {
    static final String REFUSED = "network_connections_refused_total";

    static final String BY_DISK = "append_disk_errors_total{shard=\"0\"}";

    /** What counts input that is refused; what is not in the page is 0. */
    private static final Pattern COUNTER = Pattern.compile(
            "^journalq_((?:network_connections_refused|partition_errors|limits_reached|append_disk_errors)_total\\S*)"
                    + " ([1-9].*)$",
            Pattern.MULTILINE);

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.journalq");
    private final Lines lines = new Lines();
    private final TestBroker broker;
    private Map<String, Double> counted = Map.of();

    private static final class Lines extends AppenderBase<ILoggingEvent> {
        private final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                seen.add(event.getFormattedMessage());
            }
        }
    }

    /** @param broker with an admin listener */
    InputTrace(TestBroker broker) {
        this.broker = broker;
        lines.start();
        logger.setLevel(Level.WARN);
        logger.setAdditive(false);
        logger.addAppender(lines);
    }

    /** Lines since the last that were asserted. */
    List<String> lines() {
        return lines.seen;
    }

    static String limit(String name) {
        return "limits_reached_total{limit=\"" + name + "\"}";
    }

    static String error(ErrorCode error) {
        return error(ApiKey.PRODUCE, error);
    }

    static String error(ApiKey api, ErrorCode error) {
        return "partition_errors_total{api=\"" + api.apiName() + "\",error=\"" + error + "\"}";
    }

    Map<String, Double> counted() throws Exception {
        Map<String, Double> values = new TreeMap<>();
        Matcher matcher = COUNTER.matcher(broker.page("/metrics").body());
        while (matcher.find()) {
            values.put(matcher.group(1), Double.parseDouble(matcher.group(2)));
        }
        return values;
    }

    /** How much counters have grown since this was asked last, or began; those only that have. */
    Map<String, Double> grown() throws Exception {
        Map<String, Double> before = counted;
        counted = counted();
        Map<String, Double> grown = new TreeMap<>();
        counted.forEach((name, value) -> {
            double growth = value - before.getOrDefault(name, 0.0);
            if (growth != 0) {
                grown.put(name, growth);
            }
        });
        return grown;
    }

    /** One line, with these words in it. */
    void assertOneLine(String... words) throws Exception {
        broker.await(() -> !lines.seen.isEmpty());
        assertThat(lines.seen).singleElement().asString().contains(words);
        lines.seen.clear();
    }

    /** One line that names this client, and one count each of what is named, and of nothing else. */
    void assertOneResult(WireClient client, Set<String> counters, String... words) throws Exception {
        broker.await(() -> !lines.seen.isEmpty());
        assertThat(lines.seen)
                .singleElement()
                .asString()
                .contains(words)
                .contains("client=/127.0.0.1:" + client.socket.getLocalPort() + " ");
        lines.seen.clear();
        Map<String, Double> grown = grown();
        assertThat(grown).containsOnlyKeys(counters);
        assertThat(grown.values()).containsOnly(1.0);
    }

    @Override
    public void close() {
        logger.detachAppender(lines);
        logger.setAdditive(true);
        logger.setLevel(null);
    }
}
