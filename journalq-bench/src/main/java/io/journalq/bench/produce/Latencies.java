package io.journalq.bench.produce;

import io.journalq.bench.measure.Latency;
import org.HdrHistogram.Histogram;

/**
 * The two views of a run's latency.
 *
 * @param latency without coordinated omission: from schedule where there is one, corrected where there is none
 * @param serviceTime of the calls that were made
 */
record Latencies(Latency latency, Latency serviceTime) {

    /**
     * Without a schedule each caller, and each place for a batch in flight, waits for an answer before it goes on: what
     * it would have sent at its mean pace while one answer was late is filled in.
     */
    static Latencies of(boolean scheduled, Histogram serviceTimes, Histogram fromSchedule) {
        Latency serviceTime = Latency.of(Latency.SERVICE_TIME, serviceTimes);
        if (scheduled) {
            return new Latencies(Latency.of(Latency.FROM_SCHEDULE, fromSchedule), serviceTime);
        }
        long meanIntervalNs = (long) Math.max(1, serviceTimes.getMean());
        return new Latencies(
                Latency.of(Latency.CORRECTED, serviceTimes.copyCorrectedForCoordinatedOmission(meanIntervalNs)),
                serviceTime);
    }
}
