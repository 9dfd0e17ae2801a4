package io.journalq.client;

import static io.journalq.client.internal.check.Arguments.notNull;

import io.journalq.client.internal.produce.BatchFuture;
import io.journalq.client.record.BatchMetadata;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Runs the interceptors of a producer around its sends. Thread-safe, if the interceptors are. */
final class InterceptedSends {
    private static final System.Logger LOGGER = System.getLogger(Producer.class.getName());

    private final List<ProducerInterceptor> interceptors;

    /** @param interceptors at least one, in the order in which they are called */
    InterceptedSends(List<ProducerInterceptor> interceptors) {
        this.interceptors = List.copyOf(interceptors);
    }

    RecordMetadata send(ProducerRecord record, Function<ProducerRecord, RecordMetadata> send) {
        ProducerRecord changed = change(record);
        RecordMetadata metadata;
        try {
            metadata = send.apply(changed);
        } catch (RuntimeException e) {
            failed(changed, e);
            throw e;
        }
        acknowledged(changed, metadata);
        return metadata;
    }

    CompletableFuture<RecordMetadata> sendAsync(
            ProducerRecord record, Function<ProducerRecord, CompletableFuture<RecordMetadata>> send) {
        ProducerRecord changed = change(record);
        CompletableFuture<RecordMetadata> sent;
        try {
            sent = send.apply(changed);
        } catch (RuntimeException e) {
            failed(changed, e);
            throw e;
        }
        var unused = sent.whenComplete((metadata, failure) -> {
            if (failure == null) {
                acknowledged(changed, metadata);
            } else {
                failed(changed, failure);
            }
        });
        return sent;
    }

    CompletableFuture<BatchMetadata> sendBatch(
            List<ProducerRecord> records, Function<List<ProducerRecord>, CompletableFuture<BatchMetadata>> send) {
        List<ProducerRecord> changed = new ArrayList<>(records.size());
        for (ProducerRecord record : records) {
            changed.add(change(notNull(record, "each of records")));
        }
        CompletableFuture<BatchMetadata> sent;
        try {
            sent = send.apply(changed);
        } catch (RuntimeException e) {
            changed.forEach(record -> failed(record, e));
            throw e;
        }
        var unused = sent.whenComplete((metadata, failure) -> {
            for (int i = 0; i < changed.size(); i++) {
                if (failure == null) {
                    acknowledged(changed.get(i), position(changed.get(i), metadata, i, hasLogAppendTime(sent)));
                } else {
                    failed(changed.get(i), failure);
                }
            }
        });
        return sent;
    }

    private static boolean hasLogAppendTime(CompletableFuture<BatchMetadata> sent) {
        return sent instanceof BatchFuture batch && batch.hasLogAppendTime();
    }

    private static RecordMetadata position(
            ProducerRecord record, BatchMetadata batch, int index, boolean logAppendTime) {
        long offset = batch.baseOffset() == RecordMetadata.UNKNOWN_OFFSET
                ? RecordMetadata.UNKNOWN_OFFSET
                : batch.baseOffset() + index;
        long timestampMs = logAppendTime || record.timestampMs() == ProducerRecord.SEND_TIME
                ? batch.maxTimestampMs()
                : record.timestampMs();
        return new RecordMetadata(batch.topic(), batch.partition(), offset, timestampMs);
    }

    private ProducerRecord change(ProducerRecord record) {
        ProducerRecord changed = record;
        for (ProducerInterceptor interceptor : interceptors) {
            changed = notNull(interceptor.onSend(changed), "the result of onSend");
        }
        return changed;
    }

    private void acknowledged(ProducerRecord record, RecordMetadata metadata) {
        notifyAll(interceptor -> interceptor.onAcknowledged(record, metadata));
    }

    private void failed(ProducerRecord record, Throwable failure) {
        notifyAll(interceptor -> interceptor.onFailed(record, failure));
    }

    private void notifyAll(Consumer<ProducerInterceptor> call) {
        for (ProducerInterceptor interceptor : interceptors) {
            try {
                call.accept(interceptor);
            } catch (RuntimeException | Error e) {
                // The record is sent or has failed already, and other records must not suffer.
                LOGGER.log(System.Logger.Level.WARNING, "a producer interceptor failed: " + e, e);
            }
        }
    }
}
