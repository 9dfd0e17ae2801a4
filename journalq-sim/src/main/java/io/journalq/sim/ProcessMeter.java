package io.journalq.sim;

import com.sun.management.ThreadMXBean;
import io.journalq.sim.metadata.CostMeter;
import java.lang.management.ManagementFactory;

/** Measures this process. The thread that is measured calls. */
final class ProcessMeter implements CostMeter {
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public long allocatedBytes() {
        return threads.getCurrentThreadAllocatedBytes();
    }

    @Override
    public long heapBytes() {
        ManagementFactory.getMemoryMXBean().gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
