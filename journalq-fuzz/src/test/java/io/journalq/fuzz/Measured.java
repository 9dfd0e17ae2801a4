package io.journalq.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Runs inputs and compares what they cost with what they may cost. Stateless. */
final class Measured {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The runtime itself allocates now and then (a class loaded, a call site linked): once, not again. */
    private static final int ATTEMPTS = 3;

    private Measured() {}

    /** Runs one input; throws what a defect throws, and an error when the input costs too much every time. */
    static void run(FuzzTarget target, byte[] input) throws Exception {
        long boundBytes = target.maxAllocatedBytes(input.length);
        long leastBytes = Long.MAX_VALUE;
        for (int attempt = 0; attempt < ATTEMPTS && leastBytes > boundBytes; attempt++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            target.run(input.clone());
            leastBytes = Math.min(leastBytes, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        if (leastBytes > boundBytes) {
            throw new AssertionError("an input of %d bytes cost %d bytes of memory, more than %d"
                    .formatted(input.length, leastBytes, boundBytes));
        }
    }
}
