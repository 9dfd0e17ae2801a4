package io.journalq.bench.measure;

/**
 * Bytes that went over all network devices, loopback included, since the machine started. On loopback each byte counts
 * once as received and once as sent.
 */
public record NetworkSample(long receivedBytes, long sentBytes) {
    public static NetworkSample now() {
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
