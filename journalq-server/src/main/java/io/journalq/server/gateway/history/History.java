package io.journalq.server.gateway.history;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.server.gateway.BrokerView;
import io.journalq.server.gateway.BrokerView.Counters;
import io.journalq.server.loop.Loop;
import java.io.IOException;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Series of the last 15 minutes, with a value for each second, and of the last 24 hours, with a value for each minute.
 * 150 KiB in all. Sampled by a timer of one loop; any thread can read.
 */
public final class History {
    /** Number of values per second. */
    static final int SECONDS = 15 * 60;

    /** Number of values per minute. */
    static final int MINUTES = 24 * 60;

    private static final int SAMPLE_MS = 1_000;
    private static final int SECONDS_IN_A_MINUTE = 60;

    private final BrokerView broker;
    private final LongSupplier epochMs;
    private final Ring seconds = new Ring(SECONDS, SAMPLE_MS);
    private final Ring minutes = new Ring(MINUTES, SECONDS_IN_A_MINUTE * SAMPLE_MS);
    private Counters lastSecond;
    private Counters lastMinute;
    private long lastSecondMs;
    private long lastMinuteMs;
    private int samples;

    /** The names of the series in responses, in the order of the values of a sample. */
    private static final List<String> SERIES = List.of(
            "appendedRecordsPerSecond",
            "appendedBytesPerSecond",
            "fetchedBytesPerSecond",
            "requestsPerSecond",
            "connections",
            "heapUsedBytes",
            "oldestUnsyncedMs");

    /** The values of all series. Guarded by the history. */
    private static final class Ring {
        private final int stepMs;
        private final long[][] values;
        private int next;
        private int count;
        private long lastMs;

        Ring(int length, int stepMs) {
            this.stepMs = stepMs;
            this.values = new long[SERIES.size()][length];
        }

        void add(long[] sample, long nowMs) {
            for (int i = 0; i < sample.length; i++) {
                values[i][next] = sample[i];
            }
            int length = values[0].length;
            next = (next + 1) % length;
            count = Math.min(length, count + 1);
            lastMs = nowMs;
        }

        /** The values of a series, oldest first. */
        long[] series(int index) {
            int length = values[index].length;
            long[] ordered = new long[count];
            for (int i = 0; i < count; i++) {
                ordered[i] = values[index][(next - count + i + length) % length];
            }
            return ordered;
        }
    }

    /** @param epochMs supplies the time of day */
    public History(BrokerView broker, LongSupplier epochMs) {
        this.broker = broker;
        this.epochMs = epochMs;
    }

    /** Samples once per second from now on, until the loop ends. On the loop, or before it runs. */
    public void start(Loop loop) {
        try {
            sample();
        } finally {
            // Also after a failure, such as a lack of memory.
            loop.schedule(() -> start(loop), SAMPLE_MS);
        }
    }

    /** Takes a sample. */
    synchronized void sample() {
        Counters now = broker.counters();
        long nowMs = epochMs.getAsLong();
        if (lastSecond == null) {
            lastMinute = now;
            lastMinuteMs = nowMs;
        } else {
            seconds.add(sample(lastSecond, now, nowMs - lastSecondMs), nowMs);
            samples++;
            if (samples % SECONDS_IN_A_MINUTE == 0) {
                minutes.add(sample(lastMinute, now, nowMs - lastMinuteMs), nowMs);
                lastMinute = now;
                lastMinuteMs = nowMs;
            }
        }
        lastSecond = now;
        lastSecondMs = nowMs;
    }

    private static long[] sample(Counters before, Counters now, long tookMs) {
        // In the order of SERIES.
        return new long[] {
            rate(before.appendedRecords(), now.appendedRecords(), tookMs),
            rate(before.appendedBytes(), now.appendedBytes(), tookMs),
            rate(before.fetchedBytes(), now.fetchedBytes(), tookMs),
            rate(before.requests(), now.requests(), tookMs),
            now.connections(),
            now.heapUsedBytes(),
            now.oldestUnsyncedMs()
        };
    }

    /** Rounded to whole units per second. The clock may have jumped. */
    private static long rate(long before, long now, long tookMs) {
        return tookMs <= 0 ? 0 : Math.round((now - before) * 1e3 / tookMs);
    }

    /** Writes the members of an object with all series. */
    synchronized void write(JsonGenerator json, boolean perMinute) throws IOException {
        Ring ring = perMinute ? minutes : seconds;
        json.writeNumberField("stepMs", ring.stepMs);
        json.writeNumberField("last", ring.lastMs);
        json.writeObjectFieldStart("series");
        for (int i = 0; i < SERIES.size(); i++) {
            long[] values = ring.series(i);
            json.writeFieldName(SERIES.get(i));
            json.writeArray(values, 0, values.length);
        }
        json.writeEndObject();
    }
}
