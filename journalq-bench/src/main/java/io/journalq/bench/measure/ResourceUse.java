package io.journalq.bench.measure;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The resources that a broker and its clients used during an interval. Cores are processor time divided by wall time: 1.0
 * is one busy core. Values of a broker with several processes are sums.
 *
 * @param brokerWakeUps how often a thread of the broker was woken after it had nothing to do
 * @param brokerPreemptions how often the kernel took the processor from a thread of the broker
 * @param brokerRequests requests that the broker received; -1 if it has no metrics
 * @param brokerHandOvers tasks that event loops of the broker handed to each other; -1 if it has no metrics
 * @param brokerStalls iterations of the broker's event loops that took longer than {@link #STALL_MS}; -1 if it has no
 *     metrics
 * @param nodes the processes of the broker
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
        long brokerStalls,
        List<NodeUse> nodes) {

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

    /**
     * What one process of the broker used.
     *
     * @param residentBytes at the end of the interval
     */
    public record NodeUse(double cores, long residentBytes, long maxResidentBytes) {}

    /** Starts measuring. If the broker's process id is below 1, its values are zero. */
    public static Meter start(long brokerPid) {
        return start(brokerPid, null);
    }

    /** As {@link #start(long)}, with the {@code host:port} of the broker's metrics; null if there are none. */
    public static Meter start(long brokerPid, String metricsAddress) {
        return start(List.of(new BrokerNode(brokerPid, null, metricsAddress)));
    }

    /** Starts measuring a broker that consists of these processes. */
    public static Meter start(List<BrokerNode> brokerNodes) {
        return new Meter(brokerNodes.stream().map(NodeMeter::new).toList());
    }

    /** The state at the start of the interval. One thread. */
    public static final class Meter {
        private final List<NodeMeter> nodes;
        private final long clientPid = ProcessHandle.current().pid();
        private final long startNs;
        private final ProcessUsage clientStart;
        private final NetworkSample networkStart = NetworkSample.now();

        private Meter(List<NodeMeter> nodes) {
            this.nodes = nodes;
            // The metrics first and last, because their page costs the broker processor time.
            nodes.forEach(NodeMeter::startMetrics);
            startNs = System.nanoTime();
            nodes.forEach(NodeMeter::start);
            clientStart = ProcessUsage.of(clientPid);
        }

        public ResourceUse stop() {
            nodes.forEach(NodeMeter::stop);
            ProcessUsage client = ProcessUsage.of(clientPid);
            NetworkSample network = NetworkSample.now();
            double seconds = (System.nanoTime() - startNs) / 1e9;
            nodes.forEach(NodeMeter::stopSwitches);
            nodes.forEach(NodeMeter::stopMetrics);
            List<NodeUse> uses = nodes.stream().map(node -> node.use(seconds)).toList();
            double brokerCores = uses.stream().mapToDouble(NodeUse::cores).sum();
            long brokerResidentBytes =
                    uses.stream().mapToLong(NodeUse::residentBytes).sum();
            double clientCores = (client.cpuNs() - clientStart.cpuNs()) / 1e9 / seconds;
            int cores = Runtime.getRuntime().availableProcessors();
            long memoryBytes = Math.max(1, ProcFile.number("/proc/meminfo", "MemTotal:") * 1024);
            return new ResourceUse(
                    seconds,
                    brokerCores,
                    clientCores,
                    100 * (brokerCores + clientCores) / cores,
                    brokerResidentBytes,
                    uses.stream().mapToLong(NodeUse::maxResidentBytes).sum(),
                    client.residentBytes(),
                    100.0 * (brokerResidentBytes + client.residentBytes()) / memoryBytes,
                    (network.receivedBytes() - networkStart.receivedBytes()) / MB / seconds,
                    (network.sentBytes() - networkStart.sentBytes()) / MB / seconds,
                    nodes.stream().mapToLong(NodeMeter::writtenBytes).sum() / MB / seconds,
                    nodes.stream().mapToLong(NodeMeter::waits).sum(),
                    nodes.stream().mapToLong(NodeMeter::preemptions).sum(),
                    known(NodeMeter::requests),
                    known(NodeMeter::handOvers),
                    known(NodeMeter::stalls),
                    uses);
        }

        /** The sum over all processes; -1 if one does not tell. */
        private long known(ToLongFunction<NodeMeter> value) {
            long sum = 0;
            for (NodeMeter node : nodes) {
                long one = value.applyAsLong(node);
                if (one < 0) {
                    return -1;
                }
                sum += one;
            }
            return sum;
        }
    }

    /** A process of the broker, at the start and at the end of the interval. */
    private static final class NodeMeter {
        private final long pid;
        private final MetricsPage metrics;
        private long requestsStart;
        private long handOversStart;
        private long stallsStart;
        private ThreadSwitches switchesStart;
        private ThreadSwitches.Count switches;
        private ProcessUsage usageStart;
        private ProcessUsage usage;

        NodeMeter(BrokerNode node) {
            pid = node.pid();
            metrics = new MetricsPage(node.metricsAddress());
        }

        void startMetrics() {
            metrics.load();
            requestsStart = metrics.sum(REQUESTS);
            handOversStart = metrics.sum(HAND_OVERS);
            stallsStart = slowIterations();
        }

        void stopMetrics() {
            metrics.load();
        }

        void start() {
            switchesStart = ThreadSwitches.of(pid);
            usageStart = ProcessUsage.of(pid);
        }

        void stop() {
            usage = ProcessUsage.of(pid);
        }

        void stopSwitches() {
            switches = ThreadSwitches.of(pid).since(switchesStart);
        }

        NodeUse use(double seconds) {
            return new NodeUse(
                    (usage.cpuNs() - usageStart.cpuNs()) / 1e9 / seconds,
                    usage.residentBytes(),
                    usage.maxResidentBytes());
        }

        long writtenBytes() {
            return usage.writtenBytes() - usageStart.writtenBytes();
        }

        long waits() {
            return switches.waits();
        }

        long preemptions() {
            return switches.preemptions();
        }

        long requests() {
            return since(requestsStart, metrics.sum(REQUESTS));
        }

        long handOvers() {
            return since(handOversStart, metrics.sum(HAND_OVERS));
        }

        long stalls() {
            return since(stallsStart, slowIterations());
        }

        private long slowIterations() {
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
