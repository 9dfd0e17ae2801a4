package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.option.OptionTypes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Option;

/** The numbers of event loops to measure a broker with. One thread. */
final class ShardOptions {
    private static final String SETTING = "shards";

    @Option(
            names = "--shards",
            split = ",",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Event loops of the broker, which starts at most one for each processor. With several counts,"
                    + " separated by commas, measures one broker after the other (default: the broker's own"
                    + " default).")
    private List<Integer> counts = List.of();

    /** Whether counts were given. */
    boolean isGiven() {
        return !counts.isEmpty();
    }

    /** The settings of each broker to measure, in order. */
    List<Map<String, String>> brokers(BrokerChoice broker, Map<String, String> settings) {
        if (counts.isEmpty()) {
            return List.of(settings);
        }
        if (broker != BrokerChoice.JOURNALQ) {
            throw BenchException.wrongUsage("only journalq has shards", "leave --shards out");
        }
        if (settings.containsKey(SETTING)) {
            throw BenchException.wrongUsage("the number of shards is given twice", "use --shards only");
        }
        int processors = Runtime.getRuntime().availableProcessors();
        if (counts.stream().anyMatch(count -> count > processors)) {
            System.err.println("A broker starts at most one event loop for each of the " + processors + " processors.");
        }
        List<Map<String, String>> brokers = new ArrayList<>();
        for (int count : counts) {
            Map<String, String> own = new TreeMap<>(settings);
            own.put(SETTING, Integer.toString(count));
            brokers.add(own);
        }
        return brokers;
    }

    /** The number of event loops in a row of the result. */
    static String of(Map<String, String> settings) {
        return settings.getOrDefault(SETTING, "default");
    }

    /** The settings that all measured brokers have. */
    static Map<String, String> common(Map<String, String> settings) {
        Map<String, String> common = new TreeMap<>(settings);
        common.remove(SETTING);
        return common;
    }
}
