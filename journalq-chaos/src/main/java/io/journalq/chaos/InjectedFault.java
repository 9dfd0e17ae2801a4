package io.journalq.chaos;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;

/** What a cycle does to the broker. Every cycle ends with SIGKILL and a start. */
enum InjectedFault {
    /** Nothing before the kill. */
    KILL(6),
    /** SIGSTOP before the kill; half of the time with SIGCONT in between. */
    FREEZE(3),
    /** A flipped bit in a journal of the killed broker. */
    DAMAGE(3),
    /** The data directory, its identity file or its metadata is moved away. */
    DIRECTORY(1),
    /** Legal requests that take memory, beside the load. */
    FLOOD(1);

    private final int weight;

    InjectedFault(int weight) {
        this.weight = weight;
    }

    /** One of {@code enabled}, by weight. */
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
