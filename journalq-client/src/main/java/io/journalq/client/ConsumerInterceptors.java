package io.journalq.client;

import io.journalq.client.group.CommittedOffset;
import io.journalq.common.id.TopicPartition;
import java.util.List;
import java.util.Map;

/** Calls the interceptors of a consumer in order. An interceptor that fails must not lose records or commits. */
final class ConsumerInterceptors {
    private static final System.Logger LOGGER = System.getLogger(Consumer.class.getName());

    private final List<ConsumerInterceptor> interceptors;

    ConsumerInterceptors(List<ConsumerInterceptor> interceptors) {
        this.interceptors = List.copyOf(interceptors);
    }

    void onRecords(ConsumerRecords records) {
        if (records.isEmpty()) {
            return;
        }
        for (ConsumerInterceptor interceptor : interceptors) {
            try {
                interceptor.onRecords(records);
            } catch (RuntimeException | Error e) {
                log(e);
            }
        }
    }

    void onCommitted(Map<TopicPartition, CommittedOffset> offsets) {
        for (ConsumerInterceptor interceptor : interceptors) {
            try {
                interceptor.onCommitted(offsets);
            } catch (RuntimeException | Error e) {
                log(e);
            }
        }
    }

    private static void log(Throwable e) {
        LOGGER.log(System.Logger.Level.WARNING, "a consumer interceptor failed: " + e, e);
    }
}
