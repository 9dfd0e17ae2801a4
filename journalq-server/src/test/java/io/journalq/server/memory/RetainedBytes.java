package io.journalq.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.openjdk.jol.info.GraphLayout;

/**
 * Measures the heap that objects retain, by a walk over everything that they refer to. Unlike the size of the heap, the
 * result does not depend on what else the process does. Stateless.
 */
public final class RetainedBytes {
    /** Maximum ratio of charged to retained bytes. At this ratio, a full part uses half of its bound. */
    private static final double MAX_OVERESTIMATE = 2;

    static {
        // Fields of records and lambdas are read with Unsafe; sizes come from the object layout of the JVM.
        System.setProperty("jol.magicFieldOffset", "true");
        System.setProperty("jol.skipDynamicAttach", "true");
    }

    private RetainedBytes() {}

    /** Size of all objects that can be reached from {@code root}. */
    public static long of(Object root) {
        return GraphLayout.parseInstance(root).totalSize();
    }

    /** Fails unless the charge for a state is at least its size, and not much larger. */
    public static void assertEstimate(String state, long chargedBytes, long retainedBytes) {
        assertThat(retainedBytes).as("what %s take", state).isPositive();
        assertThat((double) chargedBytes / retainedBytes)
                .as("%s: %d bytes charged for %d bytes", state, chargedBytes, retainedBytes)
                .isBetween(1.0, MAX_OVERESTIMATE);
    }
}
