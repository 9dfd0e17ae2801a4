package io.journalq.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a singleton bean read topics as a member of a consumer group. The method has one parameter: a
 * {@link io.journalq.client.TypedRecord}, a {@link io.journalq.client.ConsumerRecord}, or the value of the record.
 *
 * <pre>{@code
 * @JournalQListener(topics = "orders", groupId = "billing")
 * void bill(Order order) { … }
 * }</pre>
 *
 * <p>The method is called with one record after the other. Its record is committed after it has returned, so every
 * record is delivered at least once. If it throws, it is called again with the same record, {@code
 * journalq.listener.max-attempts} times at most. Then {@link ListenerFailureHandler} is called, and the next record
 * follows. A record that cannot be deserialized is not tried again.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface JournalQListener {
    /** The topics. Placeholders such as {@code ${orders.topic}} are replaced. */
    String[] topics();

    /** The consumer group. Default: {@code journalq.consumer.group-id}. Placeholders are replaced. */
    String groupId() default "";

    /** The format of keys. Default: {@code journalq.key-serde}. */
    String keySerde() default "";

    /** The format of values. Default: {@code journalq.value-serde}. */
    String valueSerde() default "";

    /** The number of members of the group, each with a thread of its own. */
    int concurrency() default 1;
}
