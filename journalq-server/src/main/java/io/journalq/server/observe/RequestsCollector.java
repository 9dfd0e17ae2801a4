package io.journalq.server.observe;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.loop.Limit;
import io.journalq.server.loop.LoopCounters;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.memory.MemoryPart;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Requests by API and errors by code, summed over all event loops. A series appears with its first count, because most
 * brokers never see most APIs and errors. Any thread.
 */
final class RequestsCollector implements MultiCollector {
    static final String REQUESTS = "journalq_requests";
    static final String ERRORS = "journalq_partition_errors";

    static final String LIMITS = "journalq_limits_reached";

    private final List<LoopCounters> loops;
    private final MemoryBudget memory;

    RequestsCollector(List<LoopCycle> cycles, MemoryBudget memory) {
        this.memory = memory;
        this.loops = cycles.stream().map(LoopCycle::counters).toList();
    }

    @Override
    public MetricSnapshots collect() {
        CounterSnapshot.Builder requests =
                CounterSnapshot.builder().name(REQUESTS).help("Processed requests by API.");
        for (ApiKey api : ApiKey.values()) {
            addIfAny(requests, Labels.of("api", api.apiName()), loop -> loop.requests(api));
        }
        CounterSnapshot.Builder errors = CounterSnapshot.builder()
                .name(ERRORS)
                .help("Partitions of Produce and Fetch requests whose response carried an error.");
        for (ErrorCode error : ErrorCode.values()) {
            addIfAny(errors, labels(ApiKey.PRODUCE, error), loop -> loop.produceErrors(error));
            addIfAny(errors, labels(ApiKey.FETCH, error), loop -> loop.fetchErrors(error));
        }
        CounterSnapshot.Builder limits =
                CounterSnapshot.builder().name(LIMITS).help("Times a client exceeded a limit.");
        for (Limit limit : Limit.values()) {
            limits.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(Labels.of("limit", limit.label()))
                    .value((double)
                            loops.stream().mapToLong(loop -> loop.limit(limit)).sum())
                    .build());
        }
        for (MemoryPart part : memory.parts()) {
            limits.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(Labels.of("limit", part.part().setting()))
                    .value((double) part.refusals())
                    .build());
        }
        return MetricSnapshots.of(requests.build(), errors.build(), limits.build());
    }

    @Override
    public List<String> getPrometheusNames() {
        return List.of(REQUESTS, ERRORS, LIMITS);
    }

    private static Labels labels(ApiKey api, ErrorCode error) {
        return Labels.of("api", api.apiName(), "error", error.name());
    }

    private void addIfAny(CounterSnapshot.Builder snapshot, Labels labels, ToLongFunction<LoopCounters> count) {
        long total = loops.stream().mapToLong(count).sum();
        if (total > 0) {
            snapshot.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(labels)
                    .value((double) total)
                    .build());
        }
    }
}
