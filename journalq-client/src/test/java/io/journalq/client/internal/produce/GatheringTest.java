package io.journalq.client.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GatheringTest {
    private static final int MAX_REQUEST_SIZE_BYTES = 1024 * 1024;
    private static final long ROUND_TRIP_NANOS = 100_000;
    private static final long NOW_NANOS = 1_000_000_000;

    private final Gathering gathering = new Gathering(MAX_REQUEST_SIZE_BYTES);

    @Test
    void shouldLastUntilMoreThanHalfOfTheSendersAreBack() {
        // given a response to 600 bytes while 200 wait and 1,000 are in other requests
        long pauseNanos = begin(600, 1_200, 1_000);

        // then 480 of the 800 must wait
        assertThat(pauseNanos).isEqualTo(ROUND_TRIP_NANOS);
        assertThat(gathering.isOn()).isTrue();
        assertThat(gathering.goesOn(1_479, NOW_NANOS + 1)).isTrue();
        assertThat(gathering.goesOn(1_480, NOW_NANOS + 1)).isFalse();
        assertThat(gathering.isOn()).isFalse();
    }

    @Test
    void shouldTellOneSenderThatItCompletesThePause() {
        begin(1_000, 0, 0);

        assertThat(gathering.isCompletedBy(0, 599)).isFalse();
        assertThat(gathering.isCompletedBy(599, 10)).isTrue();
        assertThat(gathering.isCompletedBy(609, 10)).isFalse();
    }

    @Test
    void shouldTellNoSenderWhenThereIsNoPause() {
        assertThat(gathering.isOn()).isFalse();
        assertThat(gathering.isCompletedBy(0, 1_000)).isFalse();
    }

    @Test
    void shouldNotBeginWhenEnoughWaitsAlready() {
        assertThat(begin(400, 600, 0)).isZero();
        assertThat(gathering.isOn()).isFalse();
    }

    @Test
    void shouldWantNoMoreThanAFullRequest() {
        long waitingBytes = Gathering.FULL_BYTES;

        assertThat(begin(8 * Gathering.FULL_BYTES, waitingBytes, 0)).isZero();
        assertThat(begin(8 * Gathering.FULL_BYTES, waitingBytes - 1, 0)).isPositive();
        assertThat(gathering.goesOn(waitingBytes, NOW_NANOS)).isFalse();
    }

    @Test
    void shouldNotLastLongerThanTheRoundTripOrAMillisecond() {
        begin(1_000, 0, 0);
        assertThat(gathering.goesOn(0, NOW_NANOS + ROUND_TRIP_NANOS - 1)).isTrue();
        assertThat(gathering.goesOn(0, NOW_NANOS + ROUND_TRIP_NANOS)).isFalse();

        Gathering slow = new Gathering(MAX_REQUEST_SIZE_BYTES);
        assertThat(slow.begin(1_000, 0, 0, NOW_NANOS, 10 * Gathering.LONGEST_NANOS))
                .isEqualTo(Gathering.LONGEST_NANOS);
    }

    @Test
    void shouldBecomeRareWhenSendersDoNotComeBack() {
        int responses = 1_000;
        int pauses = 0;
        for (int i = 0; i < responses; i++) {
            if (begin(1_000, 0, 0) > 0) {
                pauses++;
                gathering.goesOn(0, NOW_NANOS + ROUND_TRIP_NANOS);
            }
        }

        assertThat(pauses).isLessThan(2 * responses / Gathering.MOST_SKIPPED);
    }

    @Test
    void shouldPauseAfterEveryResponseAgainWhenSendersReturnOnce() {
        for (int i = 0; i < 1_000; i++) {
            if (begin(1_000, 0, 0) > 0) {
                gathering.goesOn(0, NOW_NANOS + ROUND_TRIP_NANOS);
            }
        }
        while (begin(1_000, 0, 0) == 0) {
            assertThat(gathering.isOn()).isFalse();
        }
        gathering.goesOn(600, NOW_NANOS);

        for (int i = 0; i < 10; i++) {
            assertThat(begin(1_000, 0, 0)).isPositive();
            gathering.goesOn(600, NOW_NANOS);
        }
    }

    @Test
    void shouldLastForAFullRequestOrItsTimeAfterRequestsWithoutAResponse() {
        // given
        assertThat(gathering.beginWithoutResponse(100, NOW_NANOS)).isEqualTo(Gathering.NO_RESPONSE_NANOS);

        // then
        assertThat(gathering.goesOn(Gathering.FULL_BYTES + 99, NOW_NANOS + Gathering.NO_RESPONSE_NANOS - 1))
                .isTrue();
        assertThat(gathering.isCompletedBy(Gathering.FULL_BYTES + 90, 10)).isTrue();
        assertThat(gathering.goesOn(Gathering.FULL_BYTES + 100, NOW_NANOS)).isFalse();

        // when it was in vain many times
        for (int i = 0; i < 1_000; i++) {
            assertThat(gathering.beginWithoutResponse(0, NOW_NANOS)).isPositive();
            assertThat(gathering.goesOn(0, NOW_NANOS + Gathering.NO_RESPONSE_NANOS))
                    .isFalse();
        }
    }

    private long begin(long completedBytes, long usedBytes, long inFlightBytes) {
        return gathering.begin(completedBytes, usedBytes, inFlightBytes, NOW_NANOS, ROUND_TRIP_NANOS);
    }
}
