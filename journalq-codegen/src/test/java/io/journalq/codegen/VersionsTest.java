package io.journalq.codegen;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VersionsTest {
    @Test
    void shouldReadTheRangeWhenItIsInTheSchemasNotation() {
        assertThat(Versions.parse("none").isEmpty()).isTrue();
        assertThat(Versions.parse("3")).isEqualTo(new Versions(3, 3));
        assertThat(Versions.parse("3-7")).isEqualTo(new Versions(3, 7));
        assertThat(Versions.parse("3+")).isEqualTo(new Versions(3, Versions.UNBOUNDED));
    }

    @ParameterizedTest
    @CsvSource({
        "0+, 2-5, true",
        "6+, 2-5, false",
        "none, 2-5, false",
        "4+, 2-5, version >= 4",
        "0-3, 2-5, version <= 3",
        "3-4, 2-5, version >= 3 && version <= 4",
        "3, 2-5, version == 3",
    })
    void shouldFoldTheConditionWhenTheKnownVersionsDecideIt(String range, String known, String expression) {
        assertThat(Versions.parse(range).within(Versions.parse(known)).expression())
                .isEqualTo(expression);
    }
}
