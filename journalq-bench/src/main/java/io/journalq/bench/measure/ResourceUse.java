package io.journalq.bench.measure;

/**
 * The resources that a broker and its clients used during an interval. Cores are processor time divided by wall time: 1.0
 * is one busy core.
 *
 * @param brokerWakeUps how often a thread of the broker was woken after it had nothing to do
 * @param brokerPreemptions how often the kernel took the processor from a thread of the broker
 * @param brokerRequests requests that the broker received; -1 if it has no metrics
 * @param brokerHandOvers tasks that event loops of the broker handed to each other; -1 if it has no metrics
 * @param brokerStalls iterations of the broker's event loops that took longer than {@link #STALL_MS}; -1 if it has no
 *     metrics
 */
public record ResourceUse(
        double seconds,
        double brokerCores,
        double clientCores,
        double cpuPercent,
        long brokerResidentBytes,
        long brokerMaxResidentBytes,
        long clientResidentBytes,
        double memoryPercent,
        double networkInMbPerSecond,
        double networkOutMbPerSecond,
        double diskWriteMbPerSecond,
        long brokerWakeUps,
        long brokerPreemptions,
        long brokerRequests,
        long brokerHandOvers,
        long brokerStalls) {

    /** The bound of the metric's histogram that is closest below 5 ms. */
    public static final double STALL_MS = 4.2;

    private static final double MB = 1e6;
    private static final String REQUESTS = "journalq_network_requests_total";
    private static final String HAND_OVERS = "journalq_loop_hand_overs_total";
    private static final String ITERATIONS = "journalq_loop_iteration_seconds_count";
    private static final String SHORT_ITERATIONS = "journalq_loop_iteration_seconds_bucket";
    private static final String STALL_BOUND = "le=\"0.004194304\"";

    /** Processor time of the broker for each of {@code count} requests or messages, in microseconds. */
    public double brokerMicrosPer(long count) {
        return brokerCores * seconds * 1e6 / count;
    }

    /** Starts measuring. If the broker's process id is below 1, its values are zero. */
    public static Meter start(long brokerPid) {
        return start(brokerPid, null);
    }

    /** As {@link #start(long)}, with the {@code host:port} of the broker's metrics; null if there are none. */
    public static Meter start(long brokerPid, String metricsAddress) {
        return new Meter(brokerPid, new MetricsPage(metricsAddress));
    }

    /** The state at the start of the interval. One thread. */
    public static final class Meter {
        private final long brokerPid;
        private final long clientPid = ProcessHandle.current().pid();
        private final MetricsPage metrics;
        private final long requestsStart;
        private final long handOversStart;
        private final long stallsStart;
        private final ThreadSwitches switchesStart;
        private final long startNs;
        private final ProcessUsage brokerStart;
        private final ProcessUsage clientStart;
        private final NetworkSample networkStart = NetworkSample.now();

        private Meter(long brokerPid, MetricsPage metrics) {
            this.brokerPid = brokerPid;
            this.metrics = metrics;
            // The metrics first and last, because their page costs the broker processor time.
            metrics.load();
            requestsStart = metrics.sum(REQUESTS);
            handOversStart = metrics.sum(HAND_OVERS);
            stallsStart = stalls();
            switchesStart = ThreadSwitches.of(brokerPid);
            startNs = System.nanoTime();
            brokerStart = ProcessUsage.of(brokerPid);
            clientStart = ProcessUsage.of(clientPid);
        }

        public ResourceUse stop() {
            ProcessUsage broker = ProcessUsage.of(brokerPid);
            ProcessUsage client = ProcessUsage.of(clientPid);
            NetworkSample network = NetworkSample.now();
            double seconds = (System.nanoTime() - startNs) / 1e9;
            ThreadSwitches.Count switches = ThreadSwitches.of(brokerPid).since(switchesStart);
            metrics.load();
            double brokerCores = (broker.cpuNs() - brokerStart.cpuNs()) / 1e9 / seconds;
            double clientCores = (client.cpuNs() - clientStart.cpuNs()) / 1e9 / seconds;
            int cores = Runtime.getRuntime().availableProcessors();
            long memoryBytes = Math.max(1, ProcFile.number("/proc/meminfo", "MemTotal:") * 1024);
            return new ResourceUse(
                    seconds,
                    brokerCores,
                    clientCores,
                    100 * (brokerCores + clientCores) / cores,
                    broker.residentBytes(),
                    broker.maxResidentBytes(),
                    client.residentBytes(),
                    100.0 * (broker.residentBytes() + client.residentBytes()) / memoryBytes,
                    (network.receivedBytes() - networkStart.receivedBytes()) / MB / seconds,
                    (network.sentBytes() - networkStart.sentBytes()) / MB / seconds,
                    (broker.writtenBytes() - brokerStart.writtenBytes()) / MB / seconds,
                    switches.waits(),
                    switches.preemptions(),
                    since(requestsStart, metrics.sum(REQUESTS)),
                    since(handOversStart, metrics.sum(HAND_OVERS)),
                    since(stallsStart, stalls()));
        }

        private long stalls() {
            long all = metrics.sum(ITERATIONS);
            return all < 0 ? -1 : all - metrics.sum(SHORT_ITERATIONS, STALL_BOUND);
        }

        private static long since(long start, long now) {
            return start < 0 || now < 0 ? -1 : now - start;
        }
    }

    /**
     * Bytes that all network devices, including loopback, have transferred since the machine started. On loopback, each byte
     * counts as received and as sent.
     */
    private record NetworkSample(long receivedBytes, long sentBytes) {
        static NetworkSample now() {
            long received = 0;
            long sent = 0;
            for (String line : ProcFile.lines("/proc/net/dev")) {
                int colon = line.indexOf(':');
                if (colon < 0) {
                    continue;
                }
                String[] fields = line.substring(colon + 1).trim().split("\\s+", -1);
                received += Long.parseLong(fields[0]);
                sent += Long.parseLong(fields[8]);
            }
            return new NetworkSample(received, sent);
        }
    }
}
