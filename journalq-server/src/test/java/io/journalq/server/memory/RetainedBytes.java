package io.journalq.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.openjdk.jol.info.GraphLayout;

/**
 * What objects take of the heap, by a walk over everything that they refer to. Unlike the size of the heap, it does not
 * depend on what else the process does. Stateless.
 */
public final class RetainedBytes {
    /** How much more than it takes state may be charged at most: the room of a part is then at least half used. */
    private static final double MAX_OVERESTIMATE = 2;

    static {
        // Fields of records and lambdas are found by a way round; sizes come from the layout that the machine uses.
        System.setProperty("jol.magicFieldOffset", "true");
        System.setProperty("jol.skipDynamicAttach", "true");
    }

    private RetainedBytes() {}

    /** Size of all objects that can be reached from {@code root}. */
    public static long of(Object root) {
        return GraphLayout.parseInstance(root).totalSize();
    }

    /** Fails unless state is charged at least what it takes, and not much more. */
    public static void assertEstimate(String state, long chargedBytes, long retainedBytes) {
        assertThat(retainedBytes).as("what %s take", state).isPositive();
        assertThat((double) chargedBytes / retainedBytes)
                .as("%s: %d bytes charged for %d bytes", state, chargedBytes, retainedBytes)
                .isBetween(1.0, MAX_OVERESTIMATE);
    }
}
