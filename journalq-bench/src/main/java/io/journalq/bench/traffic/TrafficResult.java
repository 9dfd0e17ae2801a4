package io.journalq.bench.traffic;

import io.journalq.bench.measure.ResourceUse;
import org.HdrHistogram.Histogram;

/**
 * What came of a {@link TrafficRun}.
 *
 * @param measured within the measured time
 * @param lost of the whole run, over all subscribers
 * @param corrupt of the whole run
 * @param endToEnd within the measured time, nanoseconds from when messages were due until they were received
 * @param answers the same until they were acknowledged
 * @param firstError null when nothing failed
 */
public record TrafficResult(
        Traffic.Counts measured,
        long lost,
        long corrupt,
        Histogram endToEnd,
        Histogram answers,
        ResourceUse use,
        String firstError) {

    public double publishedPerSecond() {
        return measured.confirmed() / use.seconds();
    }

    /** Over all subscribers. */
    public double receivedPerSecond() {
        return measured.received() / use.seconds();
    }

    /** What was wrong; null when nothing was. {@code mayLose}: whether losses are within the promise. */
    public String problem(boolean mayLose) {
        if (firstError != null) {
            return firstError;
        }
        if (corrupt > 0) {
            return corrupt + " messages came damaged";
        }
        return lost > 0 && !mayLose ? lost + " messages were lost" : null;
    }
}
