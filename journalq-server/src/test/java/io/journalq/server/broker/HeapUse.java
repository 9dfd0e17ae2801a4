package io.journalq.server.broker;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;

/** The live objects on the heap of this process. Stateless. */
final class HeapUse {
    /** Number of collections until soft references and objects with cleaners are released. */
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
