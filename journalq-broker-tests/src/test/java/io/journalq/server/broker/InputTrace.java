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

/** Records the traces of refused input: warnings and errors in the log, and counters that grow. */
final class InputTrace implements AutoCloseable {
    static final String REFUSED = "network_connections_refused_total";

    static final String BY_DISK = "append_disk_errors_total{shard=\"0\"}";

    /** Counters of refused input; a counter that is not on the page is 0. */
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

    /** Lines since the last assertion. */
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

    /** The growth of counters since the last call; only those that have grown. */
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

    /** Asserts one line that contains these words. */
    void assertOneLine(String... words) throws Exception {
        broker.await(() -> !lines.seen.isEmpty());
        assertThat(lines.seen).singleElement().asString().contains(words);
        lines.seen.clear();
    }

    /** Asserts one line that names this client, and an increment of one for exactly the named counters. */
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
