package io.journalq.chaos.cluster;

import com.fasterxml.jackson.core.JsonEncoding;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What a run did and found. One thread. */
public final class ClusterReport {
    private final ClusterPlan plan;
    private final Map<ClusterFault, Integer> faults = new EnumMap<>(ClusterFault.class);
    private final List<Finding> findings = new ArrayList<>();
    private int cycles;
    private long acknowledged;
    private long readBack;
    private long seen;
    private long lost;
    private long committed;
    private long aborted;
    private long longestLostMs;
    private long longestRecoveryMs;
    private double seconds;

    /**
     * A broken promise.
     *
     * @param text begins with the name of the promise, unless a program failed
     * @param seed of the cycle
     */
    public record Finding(String text, long seed) {}

    ClusterReport(ClusterPlan plan) {
        this.plan = plan;
    }

    void onFault(ClusterFault fault) {
        faults.merge(fault, 1, Integer::sum);
    }

    /** All replicas are in sync again, and every producer has an acknowledgement, this long after a fault was over. */
    void onRecovered(long milliseconds) {
        longestRecoveryMs = Math.max(longestRecoveryMs, milliseconds);
    }

    /**
     * A cycle is over.
     *
     * @param lostMessages acknowledged messages that are lost as the mode allows
     * @param lostMs longest time from the first to the last of them, for one producer and partition
     */
    void onCycle(long acknowledgedMessages, long readMessages, long seenRecords, long lostMessages, long lostMs) {
        cycles++;
        acknowledged += acknowledgedMessages;
        readBack += readMessages;
        seen += seenRecords;
        lost += lostMessages;
        longestLostMs = Math.max(longestLostMs, lostMs);
    }

    /** What the transactional producers were told in a cycle. */
    void onTransactions(long committedTransactions, long abortedTransactions) {
        committed += committedTransactions;
        aborted += abortedTransactions;
    }

    void onFindings(List<String> texts, long seed) {
        texts.forEach(text -> findings.add(new Finding(text, seed)));
    }

    void onEnd(double tookSeconds) {
        seconds = tookSeconds;
    }

    /** The broken promises; empty if there are none. */
    public List<Finding> findings() {
        return List.copyOf(findings);
    }

    int faultCount() {
        return faults.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** One line for the progress and the end of a run. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d of %d cycles, %d faults (%s), %,d messages acknowledged, %,d transactions committed, %,d lost"
                        + " as the mode allows, longest recovery %.1f s, %d findings",
                cycles,
                plan.cycles(),
                faultCount(),
                faults.entrySet().stream()
                        .map(each -> each.getKey() + " " + each.getValue())
                        .collect(Collectors.joining(", ")),
                acknowledged,
                committed,
                lost,
                longestRecoveryMs / 1e3,
                findings.size());
    }

    /** Writes the report as JSON. */
    public void write(Path file) throws IOException {
        try (JsonGenerator out = new JsonFactory().createGenerator(file.toFile(), JsonEncoding.UTF8)) {
            out.useDefaultPrettyPrinter();
            out.writeStartObject();
            out.writeStringField("mode", plan.mode());
            out.writeNumberField("brokers", plan.brokers());
            out.writeNumberField("seed", plan.seed());
            out.writeNumberField("cycles", cycles);
            out.writeNumberField("seconds", Math.round(seconds));
            out.writeObjectFieldStart("faults");
            for (Map.Entry<ClusterFault, Integer> each : faults.entrySet()) {
                out.writeNumberField(each.getKey().toString(), each.getValue());
            }
            out.writeEndObject();
            out.writeNumberField("acknowledged", acknowledged);
            out.writeNumberField("readBack", readBack);
            out.writeNumberField("seenByConsumers", seen);
            out.writeNumberField("transactionsCommitted", committed);
            out.writeNumberField("transactionsAborted", aborted);
            out.writeNumberField("lostAsTheModeAllows", lost);
            out.writeNumberField("longestLossMs", longestLostMs);
            out.writeNumberField("longestRecoveryMs", longestRecoveryMs);
            out.writeArrayFieldStart("findings");
            for (Finding finding : findings) {
                out.writeStartObject();
                out.writeStringField("finding", finding.text());
                out.writeNumberField("seed", finding.seed());
                out.writeStringField("replay", plan.replay(finding.seed()));
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        }
    }

    /** The command that runs the faults of a finding again. */
    public String replay(Finding finding) {
        return plan.replay(finding.seed());
    }
}
