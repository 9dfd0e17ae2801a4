package io.journalq.bench.measure;

import java.nio.file.Path;

/**
 * A broker process, as it is measured. A broker under test consists of one, or of several that form a cluster.
 *
 * @param pid process id on this machine; below 1 if it is unknown
 * @param dataDirectory null if it is unknown
 * @param metricsAddress {@code host:port} that serves metrics in the Prometheus format; null if there is none
 */
public record BrokerNode(long pid, Path dataDirectory, String metricsAddress) {}
