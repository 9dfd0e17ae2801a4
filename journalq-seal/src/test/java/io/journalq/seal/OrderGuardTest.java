package io.journalq.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import org.junit.jupiter.api.Test;

class OrderGuardTest {
    private static final int MAX_METADATA_CHARACTERS = 4_096;
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);
    private static final Uuid EPOCH = new Uuid(1, 2);

    private final OrderGuard guard = new OrderGuard(false);

    @Test
    void shouldCountGapsAndRefuseRepetitionsWhenNumbersRise() {
        guard.check(ORDERS, EPOCH, 0, 10, 11, false);
        guard.check(ORDERS, EPOCH, 3, 20, 21, false);

        assertThat(guard.missing()).isEqualTo(2);
        assertThatThrownBy(() -> guard.check(ORDERS, EPOCH, 3, 30, 31, false)).isInstanceOf(SealFault.class);
        assertThatThrownBy(() -> guard.check(ORDERS, EPOCH, 1, 30, 31, false)).isInstanceOf(SealFault.class);
        guard.check(new TopicPartition("orders", 1), EPOCH, 1, 30, 31, false);
        guard.check(ORDERS, new Uuid(1, 3), 1, 30, 31, false);
    }

    @Test
    void shouldRefuseABatchWhenOneBeforeItIsMissingAndGapsAreRefused() {
        OrderGuard strict = new OrderGuard(true);
        strict.check(ORDERS, EPOCH, 4, 10, 11, false);
        strict.check(ORDERS, EPOCH, 5, 20, 21, false);
        strict.check(ORDERS, new Uuid(1, 3), 9, 30, 31, false);

        assertThatThrownBy(() -> strict.check(ORDERS, EPOCH, 7, 40, 41, false))
                .isInstanceOfSatisfying(
                        SealFault.class, fault -> assertThat(fault.reason()).isEqualTo(Reason.MISSING_BATCHES));
        // it is refused until the application seeks
        assertThatThrownBy(() -> strict.check(ORDERS, EPOCH, 7, 40, 41, false)).isInstanceOf(SealFault.class);
        strict.start(ORDERS, 50, "");
        strict.check(ORDERS, EPOCH, 8, 50, 51, false);
        // and compaction may remove batches
        strict.check(ORDERS, EPOCH, 12, 60, 61, true);
        assertThat(strict.missing()).isZero();
    }

    @Test
    void shouldFitIntoCommittedMetadataWhenThereAreManyEpochs() {
        for (int i = 0; i < 2 * OrderGuard.MAX_EPOCHS; i++) {
            guard.check(ORDERS, new Uuid(5, i), 7, i, i + 1, false);
        }

        String state = guard.state(ORDERS);

        assertThat(state).hasSizeLessThan(MAX_METADATA_CHARACTERS);
        OrderGuard restarted = new OrderGuard(false);
        restarted.start(ORDERS, 2 * OrderGuard.MAX_EPOCHS, state);
        Uuid newest = new Uuid(5, 2 * OrderGuard.MAX_EPOCHS - 1);
        assertThatThrownBy(() -> restarted.check(ORDERS, newest, 7, 1, 2, false))
                .isInstanceOf(SealFault.class);
        assertThat(restarted.state(ORDERS)).isEqualTo(state);
    }

    @Test
    void shouldForgetNumbersWhenTheApplicationSeeks() {
        guard.check(ORDERS, EPOCH, 3, 20, 21, false);

        guard.start(ORDERS, 10, "");

        guard.check(ORDERS, EPOCH, 0, 10, 11, false);
        assertThat(guard.state(ORDERS)).startsWith("jqe1:");
    }

    @Test
    void shouldStartWithoutNumbersWhenMetadataIsOfTheApplication() {
        guard.start(ORDERS, 0, "jqe1:!not base64!");
        guard.start(ORDERS, 0, "a note of the application");

        assertThat(guard.state(ORDERS)).isEmpty();
    }
}
