package io.journalq.chaos.failover;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.commandline.ProgramVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The times of a {@link FailoverMeasurement}. Immutable. */
public final class FailoverReport {
    private static final int MEDIAN = 50;
    private static final int MOST = 99;
    private static final int PERCENT = 100;
    private static final double MILLIS_PER_SECOND = 1_000;

    private final FailoverPlan plan;
    private final List<Row> rows = new ArrayList<>();

    /**
     * The times of one client after one fault.
     *
     * @param timesMs one of each round, in the order in which they were measured
     */
    public record Row(String fault, String client, List<Long> timesMs) {
        /** The median in seconds. */
        public double medianSeconds() {
            return percentile(MEDIAN);
        }

        /** The time in seconds that 99 of 100 rounds do not exceed. */
        public double p99Seconds() {
            return percentile(MOST);
        }

        /** In seconds. */
        public double goalSeconds() {
            return FailoverMeasurement.goalMs(fault) / MILLIS_PER_SECOND;
        }

        /** Whether the p99 is within the goal. */
        public boolean isMet() {
            return p99Seconds() <= goalSeconds();
        }

        /** The smallest value that is not exceeded by {@code percent} of all. */
        private double percentile(int percent) {
            int rank = (timesMs.size() * percent + PERCENT - 1) / PERCENT;
            return timesMs.stream().sorted().skip(rank - 1L).findFirst().orElseThrow() / MILLIS_PER_SECOND;
        }
    }

    /** @param times in ms, by fault and client, as {@link FailoverMeasurement#run} returns them */
    public FailoverReport(FailoverPlan plan, Map<String, Map<String, List<Long>>> times) {
        this.plan = plan;
        times.forEach((fault, byClient) ->
                byClient.forEach((client, ms) -> rows.add(new Row(fault, client, List.copyOf(ms)))));
    }

    public List<Row> rows() {
        return List.copyOf(rows);
    }

    /** Writes what was measured, and each single time, as JSON. Replaces the file. */
    public void write(Path file) throws IOException {
        try (JsonGenerator out = new JsonFactory().createGenerator(file.toFile(), JsonEncoding.UTF8)) {
            out.useDefaultPrettyPrinter();
            out.writeStartObject();
            out.writeStringField("version", new ProgramVersion().getVersion()[0]);
            out.writeStringField("jdk", Runtime.version().toString());
            out.writeNumberField("processors", Runtime.getRuntime().availableProcessors());
            out.writeNumberField("brokers", plan.brokers());
            out.writeStringField("mode", plan.mode());
            out.writeNumberField("messagesPerSecond", plan.perSecond());
            out.writeNumberField("partitions", plan.partitions());
            out.writeNumberField("idlePartitions", plan.idlePartitions());
            out.writeArrayFieldStart("results");
            for (Row row : rows) {
                out.writeStartObject();
                out.writeStringField("fault", row.fault());
                out.writeStringField("client", row.client());
                out.writeNumberField("median_s", row.medianSeconds());
                out.writeNumberField("p99_s", row.p99Seconds());
                out.writeNumberField("goal_s", row.goalSeconds());
                out.writeArrayFieldStart("times_ms");
                for (long ms : row.timesMs()) {
                    out.writeNumber(ms);
                }
                out.writeEndArray();
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        }
    }
}
