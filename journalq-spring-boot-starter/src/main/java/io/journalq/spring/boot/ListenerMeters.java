package io.journalq.spring.boot;

import io.journalq.client.Consumer;
import io.journalq.client.micrometer.JournalQClientMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.List;

/** The meters of the consumers of listeners. Thread-safe. */
final class ListenerMeters implements MeterBinder, JournalQListeners.ConsumerObserver {
    private final List<MeterRegistry> registries = new ArrayList<>();
    private final List<JournalQClientMetrics> consumers = new ArrayList<>();

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        registries.add(registry);
        consumers.forEach(meters -> meters.bindTo(registry));
    }

    @Override
    public synchronized void created(Consumer consumer, String clientId) {
        JournalQClientMetrics meters = JournalQClientMetrics.of(consumer, Tags.of("client", clientId));
        consumers.add(meters);
        registries.forEach(meters::bindTo);
    }
}
