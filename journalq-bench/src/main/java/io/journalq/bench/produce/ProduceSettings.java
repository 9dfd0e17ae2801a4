package io.journalq.bench.produce;

import java.time.Duration;

/**
 * One run of one case.
 *
 * @param messagesPerSecond the pace at which messages are due, over all callers; 0 when each caller sends its next as
 *     soon as it may
 * @param warmup before anything is counted
 */
public record ProduceSettings(
        ProduceCase produceCase,
        Workload workload,
        Tuning tuning,
        long messagesPerSecond,
        Duration warmup,
        Duration duration) {}
