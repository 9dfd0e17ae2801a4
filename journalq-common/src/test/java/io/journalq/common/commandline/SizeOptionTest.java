package io.journalq.common.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import picocli.CommandLine.TypeConversionException;

class SizeOptionTest {
    private final SizeOption any = new SizeOption();
    private final SizeOption.InMemory inMemory = new SizeOption.InMemory();

    @Test
    void shouldConvertSizesWithAndWithoutAUnit() {
        assertThat(any.convert("1")).isEqualTo(1);
        assertThat(any.convert("3GiB")).isEqualTo(3L << 30);
        assertThat(inMemory.convert("64KiB")).isEqualTo(64 << 10);
        assertThat(inMemory.convert("2147483647")).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void shouldSayWhatIsWrongWithASize() {
        assertThatThrownBy(() -> any.convert("0"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("'0' is too small; use 1 or more");
        assertThatThrownBy(() -> any.convert("1 kB"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageStartingWith("'1 kB' is not a size; use");
        assertThatThrownBy(() -> inMemory.convert("0B"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("'0B' is too small; use 1 or more");
        assertThatThrownBy(() -> inMemory.convert("2GiB"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("'2GiB' is too large; use less than 2GiB");
    }
}
