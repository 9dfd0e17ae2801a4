package io.journalq.server.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BrokerImageTest {
    @Test
    void shouldHaveNoAddressWhenTheListenerIsNotOneOfTheBroker() {
        BrokerImage broker = TestBrokers.image(1, "");

        assertThat(broker.listener("PLAINTEXT").port()).isEqualTo(9092);
        assertThat(broker.listener("SSL")).isNull();
    }
}
