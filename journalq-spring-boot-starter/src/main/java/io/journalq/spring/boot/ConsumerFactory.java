package io.journalq.spring.boot;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerInterceptor;
import java.util.List;

/**
 * Creates consumers with the {@code journalq.*} properties of the application. Thread-safe. A consumer belongs to the
 * code that has created it, which closes it. Spring closes a consumer that is a bean.
 */
public final class ConsumerFactory {
    private final JournalQProperties properties;
    private final String clientId;
    private final List<ConsumerInterceptor> interceptors;

    ConsumerFactory(JournalQProperties properties, String clientId, List<ConsumerInterceptor> interceptors) {
        this.properties = properties;
        this.clientId = clientId;
        this.interceptors = List.copyOf(interceptors);
    }

    /** Creates a consumer. */
    public Consumer create() {
        return builder().build();
    }

    /** Returns a builder with the properties of the application and its interceptors, to change some of the settings. */
    public Consumer.Builder builder() {
        return builder("consumer");
    }

    /**
     * Returns a builder.
     *
     * @param name what follows the client id of the application in the client id of the consumer
     */
    Consumer.Builder builder(String name) {
        Consumer.Builder builder = properties.applyTo(Consumer.builder(), clientId + "-" + name);
        properties.applyTo(builder);
        interceptors.forEach(builder::interceptor);
        return builder;
    }
}
