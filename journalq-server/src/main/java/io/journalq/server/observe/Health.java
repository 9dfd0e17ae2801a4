package io.journalq.server.observe;

import java.util.List;
import java.util.stream.Collectors;

/**
 * How a broker is.
 *
 * @param serving whether clients are served; false while the broker starts and stops
 * @param offlinePartitionCount partitions whose files cannot be used, while the rest of the broker serves
 * @param offlinePartitions names of some of them, made of letters, digits, dots, dashes and underscores
 */
public record Health(boolean serving, int offlinePartitionCount, List<String> offlinePartitions) {
    /** Most names on the page of a broker that lost a disk. */
    public static final int MAX_NAMES = 100;

    /** As a document for programs. */
    String toJson() {
        String status = serving ? (offlinePartitionCount > 0 ? "degraded" : "up") : "down";
        String names = offlinePartitions.stream().map(name -> '"' + name + '"').collect(Collectors.joining(","));
        return "{\"status\":\"" + status + '"'
                + (offlinePartitionCount > 0
                        ? ",\"offlinePartitionCount\":" + offlinePartitionCount + ",\"offlinePartitions\":[" + names
                                + "]"
                        : "")
                + "}";
    }
}
