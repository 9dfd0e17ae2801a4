package io.journalq.client.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RequestWindowTest {
    private final RequestWindow window = new RequestWindow();

    @Test
    void shouldAllowOneRequestWhenNothingIsKnownYet() {
        assertThat(window.limit()).isEqualTo(1);
        assertThat(window.hasResponse()).isFalse();
    }

    @Test
    void shouldAllowOneRequestWhenTheWayIsShort() {
        window.onResponse(RequestWindow.NANOS_PER_REQUEST / 5);

        assertThat(window.limit()).isEqualTo(1);
        assertThat(window.hasResponse()).isTrue();
    }

    @Test
    void shouldAllowMoreRequestsWhenTheWayIsLong() {
        window.onResponse(4 * RequestWindow.NANOS_PER_REQUEST);

        assertThat(window.limit()).isEqualTo(4);
    }

    @Test
    void shouldAllowNoMoreThanTheMostWhenTheWayIsVeryLong() {
        window.onResponse(1_000 * RequestWindow.NANOS_PER_REQUEST);

        assertThat(window.limit()).isEqualTo(RequestWindow.MOST);
    }

    @Test
    void shouldGoByTheShortestRoundTripWhenLoadMakesOthersLonger() {
        window.onResponse(8 * RequestWindow.NANOS_PER_REQUEST);
        window.onResponse(2 * RequestWindow.NANOS_PER_REQUEST);
        window.onResponse(30 * RequestWindow.NANOS_PER_REQUEST);

        assertThat(window.limit()).isEqualTo(2);
    }
}
