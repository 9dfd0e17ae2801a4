package io.journalq.client.opentelemetry;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.record.Header;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class HeaderPropagationTest {
    private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
    private static final String SPAN_ID = "b7ad6b7169203331";

    private final HeaderPropagation propagation = new HeaderPropagation(W3CTraceContextPropagator.getInstance());

    @Test
    void shouldCarryTheContextFromTheSenderToTheReader() {
        try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start();
                Producer producer = Producer.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .interceptor(propagation)
                        .build();
                Consumer consumer = Consumer.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .startAt(Consumer.Start.BEGINNING)
                        .build()) {
            // given
            try (Scope scope = Span.wrap(span()).makeCurrent()) {
                assertThat(scope).isNotNull();
                producer.send(ProducerRecord.of("orders", 0, "k".getBytes(UTF_8), "v".getBytes(UTF_8)));
            }
            producer.send(ProducerRecord.of("orders", 0, null, null));
            // when
            consumer.assign(consumer.partitionsOf("orders"));
            List<ConsumerRecord> records = new ArrayList<>();
            while (records.size() < 2) {
                consumer.poll(Duration.ofSeconds(10)).forEach(records::add);
            }
            // then
            SpanContext read =
                    Span.fromContext(propagation.contextOf(records.get(0))).getSpanContext();
            assertThat(read.getTraceId()).isEqualTo(TRACE_ID);
            assertThat(read.getSpanId()).isEqualTo(SPAN_ID);
            assertThat(read.isRemote()).isTrue();
            assertThat(records.get(0).key()).isEqualTo("k".getBytes(UTF_8));
            assertThat(records.get(1).headers()).isEmpty();
        }
    }

    @Test
    void shouldReplaceTheContextWhenARecordIsForwarded() {
        ProducerRecord forwarded = ProducerRecord.builder("orders")
                .partition(3)
                .timestampMs(77)
                .header("traceparent", "old".getBytes(UTF_8))
                .header("other", null)
                .build();
        try (Scope scope = Span.wrap(span()).makeCurrent()) {
            assertThat(scope).isNotNull();
            // when
            ProducerRecord sent = propagation.onSend(forwarded);
            // then
            assertThat(sent.headers())
                    .containsExactly(
                            new Header("other", null),
                            new Header("traceparent", ("00-" + TRACE_ID + "-" + SPAN_ID + "-01").getBytes(UTF_8)));
            assertThat(sent.partition()).isEqualTo(3);
            assertThat(sent.timestampMs()).isEqualTo(77);
        }
    }

    private static SpanContext span() {
        return SpanContext.create(TRACE_ID, SPAN_ID, TraceFlags.getSampled(), TraceState.getDefault());
    }
}
