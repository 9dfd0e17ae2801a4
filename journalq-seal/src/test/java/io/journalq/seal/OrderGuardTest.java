package io.journalq.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import org.junit.jupiter.api.Test;

class OrderGuardTest {
    private static final int MAX_METADATA_CHARACTERS = 4_096;
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    private static final Uuid EPOCH = new Uuid(1, 2);

    private final OrderGuard guard = new OrderGuard();

    @Test
    void shouldCountGapsAndRefuseRepetitionsWhenNumbersRise() {
        guard.check(ORDERS, EPOCH, 0, 10);
        guard.check(ORDERS, EPOCH, 3, 20);

        assertThat(guard.gaps()).isEqualTo(2);
        assertThatThrownBy(() -> guard.check(ORDERS, EPOCH, 3, 30)).isInstanceOf(SealFault.class);
        assertThatThrownBy(() -> guard.check(ORDERS, EPOCH, 1, 30)).isInstanceOf(SealFault.class);
        guard.check(new TopicPartition("orders", 1), EPOCH, 1, 30);
        guard.check(ORDERS, new Uuid(1, 3), 1, 30);
    }

    @Test
    void shouldFitIntoCommittedMetadataWhenThereAreManyEpochs() {
        for (int i = 0; i < 2 * OrderGuard.MAX_EPOCHS; i++) {
            guard.check(ORDERS, new Uuid(5, i), 7, i);
        }

        String state = guard.state(ORDERS);

        assertThat(state).hasSizeLessThan(MAX_METADATA_CHARACTERS);
        OrderGuard restarted = new OrderGuard();
        restarted.start(ORDERS, state);
        Uuid newest = new Uuid(5, 2 * OrderGuard.MAX_EPOCHS - 1);
        assertThatThrownBy(() -> restarted.check(ORDERS, newest, 7, 1)).isInstanceOf(SealFault.class);
        assertThat(restarted.state(ORDERS)).isEqualTo(state);
    }

    @Test
    void shouldForgetNumbersWhenTheApplicationSeeks() {
        guard.check(ORDERS, EPOCH, 3, 20);

        guard.start(ORDERS, "");

        guard.check(ORDERS, EPOCH, 0, 10);
        assertThat(guard.state(ORDERS)).startsWith("jqe1:");
    }

    @Test
    void shouldStartWithoutNumbersWhenMetadataIsOfTheApplication() {
        guard.start(ORDERS, "jqe1:!not base64!");
        guard.start(ORDERS, "a note of the application");

        assertThat(guard.state(ORDERS)).isEmpty();
    }
}
