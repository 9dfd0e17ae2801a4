package io.journalq.chaos;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;

/** A fault that a cycle injects. Each cycle ends with SIGKILL and a start. */
enum InjectedFault {
    /** Only the kill. */
    KILL(6),
    /** SIGSTOP before the kill, in half of the cases followed by SIGCONT. */
    FREEZE(3),
    /** One bit flips in a journal of the killed broker. */
    DAMAGE(3),
    /** The data directory, its identity file or its metadata is moved away. */
    DIRECTORY(1),
    /** Valid requests that take memory, beside the load. */
    FLOOD(1);

    private final int weight;

    InjectedFault(int weight) {
        this.weight = weight;
    }

    /** Draws one of {@code enabled}, by weight. */
    static InjectedFault draw(Collection<InjectedFault> enabled, Random random) {
        Set<InjectedFault> ordered = EnumSet.copyOf(enabled);
        int left =
                random.nextInt(ordered.stream().mapToInt(fault -> fault.weight).sum());
        for (InjectedFault fault : ordered) {
            left -= fault.weight;
            if (left < 0) {
                return fault;
            }
        }
        throw new AssertionError("weights do not add up");
    }
}
