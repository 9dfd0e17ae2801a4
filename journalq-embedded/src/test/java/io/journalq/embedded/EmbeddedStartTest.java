package io.journalq.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How long a start takes, in processes of their own: prints what the first start of a process takes and what the next ones
 * do. How many processes: {@code -Djournalq.start.processes=N}.
 */
class EmbeddedStartTest {
    private static final int PROCESSES = Integer.getInteger("journalq.start.processes", 1);
    private static final int STARTS = 12;
    private static final long LIMIT_SECONDS = 120;

    /** Far beyond what is documented: it is about a start that waits for something, not about a slow machine. */
    private static final double LONGEST_START_MS = 30_000;

    @ParameterizedTest
    @ValueSource(strings = {"memory", "directory"})
    void shouldBeReadySoonInAFreshProcessAndSoonerAfterwards(String where) throws Exception {
        // given
        List<Double> first = new ArrayList<>();
        List<Double> next = new ArrayList<>();

        // when
        for (int i = 0; i < PROCESSES; i++) {
            List<Double> startsMs = startsOfAProcess(where);
            first.add(startsMs.get(0));
            next.addAll(startsMs.subList(1, startsMs.size()));
        }

        // then
        System.out.println(String.format(
                Locale.ROOT,
                "embedded broker, %s: first start of a process %s; next starts %s",
                where,
                summary(first),
                summary(next)));
        assertThat(first).allSatisfy(startMs -> assertThat(startMs).isLessThan(LONGEST_START_MS));
        assertThat(next).isNotEmpty().allSatisfy(startMs -> assertThat(startMs).isLessThan(LONGEST_START_MS));
    }

    /** Median, smallest and greatest. */
    private static String summary(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return String.format(
                Locale.ROOT,
                "%.0f ms [%.0f-%.0f, %d starts]",
                sorted.get(sorted.size() / 2),
                sorted.get(0),
                sorted.get(sorted.size() - 1),
                sorted.size());
    }

    private static List<Double> startsOfAProcess(String where) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        StartTimes.class.getName(),
                        where,
                        String.valueOf(STARTS))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("the process does not end");
        }
        assertThat(process.exitValue()).isZero();
        List<Double> startsMs = printed.lines().map(Double::valueOf).toList();
        assertThat(startsMs).hasSize(STARTS);
        return startsMs;
    }
}
