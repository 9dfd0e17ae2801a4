package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import io.journalq.server.coordinator.BoundedPattern;
import io.journalq.server.group.consumer.Topics.Topic;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubscriptionPatternTest {
    @Test
    void shouldMatchWholeNamesOnly() {
        List<Topic> topics = List.of(topic("orders"), topic("orders-eu"), topic("my-orders"));

        assertThat(SubscriptionPattern.compile("orders(-eu)?").matches(topics)).containsExactly("orders", "orders-eu");
        assertThat(SubscriptionPattern.compile("orders.*").matches(topics)).containsExactly("orders", "orders-eu");
        assertThat(SubscriptionPattern.compile("").matches(topics)).isEmpty();
    }

    @Test
    void shouldMatchInLinearTimeWhenBacktrackingWouldTakeForEver() {
        assertThat(SubscriptionPattern.compile("(a+)+b").matches(List.of(topic("a".repeat(249)))))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(",
                "[a",
                "*",
                "(?=a)b",
                "(a)\\1",
                "a{1001}",
                "((a{100}){100}){100}",
                "(a{0,999}){2}",
                "a{99999999999999}"
            })
    void shouldRefuseWhenItIsNoPatternOrTooLarge(String text) {
        assertThatThrownBy(() -> SubscriptionPattern.compile(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseWhenItIsTooLong() {
        String text = "a".repeat(BoundedPattern.LENGTH_MAX + 1);

        assertThatThrownBy(() -> SubscriptionPattern.compile(text)).hasMessageContaining("longer");
    }

    private static Topic topic(String name) {
        return new Topic(new Uuid(1, name.length()), name, 1);
    }
}
