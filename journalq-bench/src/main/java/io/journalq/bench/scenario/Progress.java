package io.journalq.bench.scenario;

/** Prints a count and its rate every second. One thread. */
final class Progress {
    private static final long SECOND_NS = 1_000_000_000L;

    private final String what;
    private final long startNs = System.nanoTime();
    private long lastNs = startNs;
    private long last;

    Progress(String what) {
        this.what = what;
    }

    /** Can be called more often than it prints. */
    void tell(long count) {
        long nowNs = System.nanoTime();
        if (nowNs - lastNs >= SECOND_NS) {
            System.err.printf(
                    "%s %,d, %,.0f/s, after %d s%n",
                    what, count, (count - last) * 1e9 / (nowNs - lastNs), (nowNs - startNs) / SECOND_NS);
            last = count;
            lastNs = nowNs;
        }
    }
}
