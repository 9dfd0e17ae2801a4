package io.journalq.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.config.BrokerSettings;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    private static final long HEAP_BYTES = 512L << 20;

    @Test
    void shouldLeaveTwoFifthsOfTheHeapWhenNothingIsSet() {
        MemoryBudget budget = MemoryBudget.of(HEAP_BYTES, part -> 0);

        long bound = budget.parts().stream().mapToLong(MemoryPart::maxBytes).sum();
        assertThat(bound).isBetween(HEAP_BYTES / 2, HEAP_BYTES * 6 / 10);
        assertThat(budget.part(StatePart.METADATA).maxBytes()).isEqualTo(HEAP_BYTES / 100 * 25);
    }

    @Test
    void shouldTakeTheSettingWhenThereIsOne() {
        MemoryBudget budget = MemoryBudget.of(HEAP_BYTES, part -> part == StatePart.GROUPS ? 77 : 0);

        assertThat(budget.part(StatePart.GROUPS).maxBytes()).isEqualTo(77);
        assertThat(budget.toString()).contains("heapBytes=" + HEAP_BYTES, "groups=77", "metadata=");
    }

    @Test
    void shouldHaveASettingForEveryPartThatNamesItsShare() {
        for (StatePart part : StatePart.values()) {
            var key = BrokerSettings.MEMORY_MAX_BYTES.get(part.label());
            assertThat(key.name()).isEqualTo(part.setting());
            assertThat(key.documentation()).contains(part.defaultBytes(100) + " % of the heap");
        }
        assertThat(BrokerSettings.MEMORY_MAX_BYTES.keySet())
                .containsExactlyElementsOf(
                        Arrays.stream(StatePart.values()).map(StatePart::label).toList());
    }

    @Test
    void shouldRefuseAndCountWhenThereIsNoRoom() {
        MemoryPart part = MemoryBudget.of(0, any -> 100).part(StatePart.OFFSETS);
        part.add(60);

        assertThat(part.hasRoom(40)).isTrue();
        assertThat(part.hasRoom(41)).isFalse();
        assertThat(part.refusals()).isEqualTo(1);
    }

    @Test
    void shouldTakeInWhatIsLoadedAndRefuseOnlyGrowthWhenTheBoundIsExceeded() {
        MemoryPart part = MemoryBudget.of(0, any -> 100).part(StatePart.OFFSETS);
        part.add(250);

        assertThat(part.usedBytes()).isEqualTo(250);
        assertThat(part.hasRoom(0)).isTrue();
        assertThat(part.hasRoom(-5)).isTrue();
        assertThat(part.hasRoom(1)).isFalse();
    }

    @Test
    void shouldReleaseTheChargeOfAnOwnerWhenItIsReplaced() {
        MemoryPart part = MemoryBudget.of(0, any -> 100).part(StatePart.GROUPS);
        MemoryAccount first = part.newAccount(3);
        part.newAccount(4).add(7);
        first.add(50);

        MemoryAccount second = part.newAccount(3);
        second.add(20);
        first.add(1_000); // the replaced owner still adds and releases charges

        assertThat(part.usedBytes()).isEqualTo(27);
    }
}
