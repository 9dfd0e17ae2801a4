package io.journalq.bench.traffic;

import io.journalq.bench.measure.ResourceUse;
import org.HdrHistogram.Histogram;

/**
 * The result of a {@link TrafficRun}.
 *
 * @param measured counts of the measured interval
 * @param seconds duration of the measured interval
 * @param lost lost messages of the whole run, over all subscribers
 * @param corrupt damaged messages of the whole run
 * @param endToEnd nanoseconds from when messages were due until they were received, in the measured interval
 * @param acknowledged nanoseconds from when messages were due until they were acknowledged, in the measured interval
 * @param firstError null if nothing failed
 */
public record TrafficResult(
        Traffic.Counts measured,
        double seconds,
        long lost,
        long corrupt,
        Histogram endToEnd,
        Histogram acknowledged,
        ResourceUse use,
        String firstError) {

    public double publishedPerSecond() {
        return measured.confirmed() / seconds;
    }

    /** Messages per second that all subscribers together received. */
    public double receivedPerSecond() {
        return measured.received() / seconds;
    }

    /** The problem of the run; null if there is none. {@code mayLose}: whether the delivery guarantee permits losses. */
    public String problem(boolean mayLose) {
        if (firstError != null) {
            return firstError;
        }
        if (corrupt > 0) {
            return corrupt + " messages were damaged";
        }
        return lost > 0 && !mayLose ? lost + " messages were lost" : null;
    }
}
