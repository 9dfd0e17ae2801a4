package io.journalq.server.observe;

import java.util.List;
import java.util.Locale;
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
        StringBuilder quoted = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                quoted.append('\\').append(letter);
            } else if (letter < ' ') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) letter));
            } else {
                quoted.append(letter);
            }
        }
        return quoted.append('"').toString();
    }
}
