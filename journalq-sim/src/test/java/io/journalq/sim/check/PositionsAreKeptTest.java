package io.journalq.sim.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.sim.world.Violations;
import org.junit.jupiter.api.Test;

class PositionsAreKeptTest {
    private final Violations violations = new Violations();
    private final PositionsAreKept positions = new PositionsAreKept(violations);

    private void commit(long offset) {
        positions.onCommit("g", offset);
        positions.onCommitted("g", offset);
    }

    private boolean canBe(long offset) {
        int before = violations.found().size();
        positions.onRead("g", offset);
        return violations.found().size() == before;
    }

    @Test
    void shouldRequireTheCommitThatWasAcknowledgedLast() {
        commit(1);
        commit(2);

        assertThat(canBe(2)).isTrue();
        assertThat(canBe(1)).isFalse();
        assertThat(canBe(PositionsAreKept.NONE)).isFalse();
    }

    @Test
    void shouldAllowACommitWithoutAcknowledgement() {
        commit(1);
        positions.onCommit("g", 2);
        commit(3);

        assertThat(canBe(3)).isTrue();
        assertThat(canBe(2)).isTrue();
        assertThat(canBe(1)).isFalse();
    }

    @Test
    void shouldAllowEitherOfTwoCommitsThatWereOnTheirWayTogether() {
        commit(1);
        positions.onCommit("g", 2);
        positions.onCommit("g", 3);
        positions.onCommitted("g", 3);
        positions.onCommitted("g", 2);

        assertThat(canBe(3)).isTrue();
        assertThat(canBe(2)).isTrue();
        assertThat(canBe(1)).isFalse();
        // when one follows both
        commit(4);
        // then
        assertThat(canBe(3)).isFalse();
        assertThat(canBe(2)).isFalse();
    }

    @Test
    void shouldRequireNoPositionWithoutACommit() {
        assertThat(canBe(PositionsAreKept.NONE)).isTrue();
        assertThat(canBe(1)).isFalse();
    }
}
