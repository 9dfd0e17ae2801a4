package io.journalq.common.id;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class UuidTest {
    /** One of 64 random ids begins with a dash. */
    private static final int IDS = 2_000;

    @Test
    void shouldNotBeginWithADashWhenItIsRandom() {
        Random random = new Random(7);
        assertThat(Stream.generate(() -> Uuid.random(random)).limit(IDS))
                .doesNotHaveDuplicates()
                .noneMatch(id -> id.toString().startsWith("-"))
                .allMatch(id -> Uuid.parse(id.toString()).equals(id));
    }
}
