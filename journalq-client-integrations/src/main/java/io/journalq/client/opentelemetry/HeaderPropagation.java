package io.journalq.client.opentelemetry;

import io.journalq.client.ConsumerRecord;
import io.journalq.client.ProducerInterceptor;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.record.Header;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Carries the OpenTelemetry context from the code that sends a record to the code that reads it, in the headers of the
 * record, such as {@code traceparent}. Thread-safe.
 *
 * <pre>{@code
 * HeaderPropagation propagation = new HeaderPropagation(openTelemetry.getPropagators().getTextMapPropagator());
 * Producer producer = Producer.builder().interceptor(propagation).build();
 *
 * try (Scope scope = propagation.contextOf(record.headers()).makeCurrent()) {
 *     process(record);
 * }
 * }</pre>
 */
public final class HeaderPropagation implements ProducerInterceptor {
    private static final TextMapGetter<List<Header>> GETTER = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(List<Header> headers) {
            return headers.stream().map(Header::key).distinct().toList();
        }

        @Override
        public String get(List<Header> headers, String key) {
            for (int i = headers.size() - 1; i >= 0; i--) {
                Header header = headers.get(i);
                if (header.key().equals(key) && header.value() != null) {
                    return new String(header.value(), StandardCharsets.UTF_8);
                }
            }
            return null;
        }
    };

    private final TextMapPropagator propagator;

    /** Creates an interceptor that writes the headers which the propagator uses. */
    public HeaderPropagation(TextMapPropagator propagator) {
        this.propagator = propagator;
    }

    /** Adds the context of the calling thread to the record. Replaces headers that a forwarded record already has. */
    @Override
    public ProducerRecord onSend(ProducerRecord record) {
        Map<String, String> fields = new LinkedHashMap<>();
        propagator.inject(Context.current(), fields, Map::put);
        if (fields.isEmpty()) {
            return record;
        }
        List<Header> headers = new ArrayList<>(record.headers());
        headers.removeIf(header -> fields.containsKey(header.key()));
        fields.forEach((name, value) -> headers.add(new Header(name, value.getBytes(StandardCharsets.UTF_8))));
        return ProducerRecord.builder(record.topic())
                .partition(record.partition())
                .timestampMs(record.timestampMs())
                .key(record.key())
                .value(record.value())
                .headers(headers)
                .build();
    }

    /** Returns the context in the headers of a record, on top of the context of the calling thread. */
    public Context contextOf(List<Header> headers) {
        return propagator.extract(Context.current(), headers, GETTER);
    }

    /** Returns the context in the headers of a record. See {@link #contextOf(List)}. */
    public Context contextOf(ConsumerRecord record) {
        return contextOf(record.headers());
    }
}
