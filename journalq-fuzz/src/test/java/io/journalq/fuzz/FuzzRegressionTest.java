package io.journalq.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every target over everything that is kept for it, and over changes of that which are the same in every build. */
class FuzzRegressionTest {
    /** Surefire runs in the module's directory. */
    private static final Path MODULE = Path.of("");

    private static final long SEED = 20_261_121;
    private static final int CHANGES = 400;

    /** Generous: what hangs, hangs for ever. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TestFactory
    Stream<DynamicTest> shouldCauseNothingUnexpectedWhenBytesAreBad() {
        return FuzzTargets.all().stream()
                .map(target -> DynamicTest.dynamicTest(
                        target.name(), () -> Assertions.assertTimeoutPreemptively(LIMIT, () -> run(target))));
    }

    private static void run(FuzzTarget target) throws IOException {
        Map<String, byte[]> inputs = Corpus.inputs(MODULE, target);
        inputs.forEach((name, input) -> attack(target, name, input));
        Mutations mutations = new Mutations(SEED, List.copyOf(inputs.values()));
        for (int i = 0; i < CHANGES; i++) {
            attack(target, "change " + i, mutations.next());
        }
    }

    private static void attack(FuzzTarget target, String name, byte[] input) {
        try {
            Measured.run(target, input);
        } catch (Exception | Error defect) {
            throw new AssertionError(
                    "%s, %s: %s".formatted(target.name(), name, HexFormat.of().formatHex(input)), defect);
        }
    }

    @Test
    void shouldReadEachMessageOfTheSeedsToItsEnd() {
        assertThat(new MessageTarget().seeds()).hasSizeGreaterThan(100).allMatch(MessageTarget::read);
    }

    @Test
    void shouldReportATargetThatTakesTooMuchMemory() {
        FuzzTarget greedy = new MessageTarget() {
            @Override
            public void run(byte[] input) {
                consume(new byte[1 << 20]);
            }
        };
        assertThatThrownBy(() -> Measured.run(greedy, new byte[1])).hasMessageContaining("bytes of memory");
    }

    private static void consume(byte[] taken) {
        if (taken.length == 0) {
            throw new IllegalStateException();
        }
    }
}
