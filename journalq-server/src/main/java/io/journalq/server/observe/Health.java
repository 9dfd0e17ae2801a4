package io.journalq.server.observe;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The health of a broker.
 *
 * @param serving whether clients are served; false while the broker starts and stops
 * @param offlinePartitionCount number of partitions whose files cannot be used, while the rest of the broker serves
 * @param offlinePartitions names of up to {@link #MAX_NAMES} of them, made of letters, digits, dots, dashes and
 *     underscores
 * @param offlineDirectories paths of lost data directories, with reasons
 */
public record Health(
        boolean serving,
        int offlinePartitionCount,
        List<String> offlinePartitions,
        Map<String, String> offlineDirectories) {
    /** Maximum number of names on the health page. */
    public static final int MAX_NAMES = 100;

    /** What the health page tells a stranger: whether clients are served, and nothing of topics and directories. */
    String toAnonymousJson() {
        return "{\"status\":\"" + (serving ? "up" : "down") + "\"}";
    }

    /** {@code up}, {@code degraded} if a part of the data cannot be used, or {@code down}. */
    public String status() {
        return serving ? (offlinePartitionCount > 0 || !offlineDirectories.isEmpty() ? "degraded" : "up") : "down";
    }

    /** The health page, as JSON. */
    String toJson() {
        String names = offlinePartitions.stream().map(name -> '"' + name + '"').collect(Collectors.joining(","));
        return "{\"status\":\"" + status() + '"'
                + (offlinePartitionCount > 0
                        ? ",\"offlinePartitionCount\":" + offlinePartitionCount + ",\"offlinePartitions\":[" + names
                                + "]"
                        : "")
                + (offlineDirectories.isEmpty() ? "" : ",\"offlineDirectories\":" + directories())
                + "}";
    }

    private String directories() {
        return offlineDirectories.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(one -> "{\"directory\":" + quoted(one.getKey()) + ",\"reason\":" + quoted(one.getValue()) + "}")
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static String quoted(String text) {
        return '"' + String.valueOf(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
    }
}
