package io.journalq.bench.measure;

/**
 * The resources that a broker and its clients used during an interval. Cores are processor time divided by wall time: 1.0
 * is one busy core.
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
        double diskWriteMbPerSecond) {

    private static final double MB = 1e6;

    /** Starts measuring. If the broker's process id is below 1, its values are zero. */
    public static Meter start(long brokerPid) {
        return new Meter(brokerPid);
    }

    /** The state at the start of the interval. One thread. */
    public static final class Meter {
        private final long brokerPid;
        private final long clientPid = ProcessHandle.current().pid();
        private final long startNs = System.nanoTime();
        private final ProcessUsage brokerStart;
        private final ProcessUsage clientStart;
        private final NetworkSample networkStart = NetworkSample.now();

        private Meter(long brokerPid) {
            this.brokerPid = brokerPid;
            brokerStart = ProcessUsage.of(brokerPid);
            clientStart = ProcessUsage.of(clientPid);
        }

        public ResourceUse stop() {
            ProcessUsage broker = ProcessUsage.of(brokerPid);
            ProcessUsage client = ProcessUsage.of(clientPid);
            NetworkSample network = NetworkSample.now();
            double seconds = (System.nanoTime() - startNs) / 1e9;
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
                    (broker.writtenBytes() - brokerStart.writtenBytes()) / MB / seconds);
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
