package io.journalq.server.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.network.MemoryShare.Reservation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryShareTest {
    private final MemoryShare share = new MemoryShare(100);
    private final List<String> granted = new ArrayList<>();

    private Reservation wish(String name, long sizeBytes) {
        return new Reservation(sizeBytes, () -> granted.add(name));
    }

    @Test
    void shouldGrantInOrderOfArrivalWhenMemoryIsGivenBack() {
        // given a large reservation before a small one that would fit
        assertThat(share.reserve(wish("first", 60))).isTrue();
        assertThat(share.reserve(wish("large", 80))).isFalse();
        assertThat(share.reserve(wish("small", 10))).isFalse();

        // when
        share.giveBack(60);

        // then
        assertThat(granted).containsExactly("large", "small");
        assertThat(share.usedBytes()).isEqualTo(90);
        assertThat(share.hasWaiting()).isFalse();
    }

    @Test
    void shouldGrantAWishLargerThanEverythingWhenNothingIsHeld() {
        assertThat(share.reserve(wish("small", 1))).isTrue();
        assertThat(share.reserve(wish("huge", 1_000))).isFalse();

        share.giveBack(1);

        assertThat(granted).containsExactly("huge");
        assertThat(share.isFull()).isTrue();
    }

    @Test
    void shouldServeTheNextWhenTheFirstNoLongerWaits() {
        // given
        assertThat(share.reserve(wish("first", 60))).isTrue();
        Reservation large = wish("large", 80);
        assertThat(share.reserve(large)).isFalse();
        assertThat(share.reserve(wish("small", 10))).isFalse();

        // when
        boolean waited = share.cancel(large);

        // then
        assertThat(waited).isTrue();
        assertThat(granted).containsExactly("small");
        assertThat(share.usedBytes()).isEqualTo(70);
        assertThat(share.cancel(large)).isFalse();
    }

    @Test
    void shouldHaveNobodyWaitingWhenTheOnlyOneNoLongerWaits() {
        // given
        assertThat(share.reserve(wish("first", 60))).isTrue();
        Reservation large = wish("large", 80);
        assertThat(share.reserve(large)).isFalse();

        // when
        share.cancel(large);

        // then
        assertThat(share.hasWaiting()).isFalse();
    }
}
