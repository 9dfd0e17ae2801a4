package io.journalq.server.broker;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** What is alive on the heap of this process. Stateless. */
final class HeapUse {
    /** Collections until what was found to be garbage late, such as what soft references held, is gone. */
    private static final int COLLECTIONS = 3;

    private HeapUse() {}

    /** Bytes of all objects that survive a full collection. */
    static long liveBytes() throws InterruptedException {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        for (int i = 0; i < COLLECTIONS; i++) {
            memory.gc();
            Thread.sleep(20);
        }
        return memory.getHeapMemoryUsage().getUsed();
    }
}
