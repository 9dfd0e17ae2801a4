package io.journalq.server.observe;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How a broker is.
 *
 * @param serving whether clients are served; false while the broker starts and stops
 * @param offlinePartitionCount partitions whose files cannot be used, while the rest of the broker serves
 * @param offlinePartitions names of some of them, made of letters, digits, dots, dashes and underscores
 * @param offlineDirectories paths of data directories that were lost, and why
 */
public record Health(
        boolean serving,
        int offlinePartitionCount,
        List<String> offlinePartitions,
        Map<String, String> offlineDirectories) {
    /** Most names on the page of a broker that lost a disk. */
    public static final int MAX_NAMES = 100;

    /** As a document for programs. */
    String toJson() {
        String status =
                serving ? (offlinePartitionCount > 0 || !offlineDirectories.isEmpty() ? "degraded" : "up") : "down";
        String names = offlinePartitions.stream().map(name -> '"' + name + '"').collect(Collectors.joining(","));
        return "{\"status\":\"" + status + '"'
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
