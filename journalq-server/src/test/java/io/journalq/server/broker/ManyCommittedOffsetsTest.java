package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker with 1,000,000 committed offsets of 1,000 groups, started again as a process of its own. Prints how long it took
 * until all groups were served; {@code -Djournalq.start.processes=N} starts it more often.
 */
class ManyCommittedOffsetsTest {
    private static final String TOPIC = "t";
    private static final int GROUPS = 1_000;
    private static final int OFFSETS_PER_GROUP = 1_000;
    private static final int PROCESSES = Integer.getInteger("journalq.start.processes", 1);

    /** A multiple of what it takes: it is about time that grows with the square, not about a slow machine. */
    private static final long MAX_PROCESSOR_TIME_MS = 30_000;

    private static final long LIMIT_SECONDS = 240;

    @TempDir
    private Path dataDirectory;

    @Test
    void shouldServeAllGroupsWithoutMuchWorkWhenItStartsWithAMillionCommittedOffsets() throws Exception {
        // given
        run(CommitProcess.class);

        for (int i = 0; i < PROCESSES; i++) {
            // when
            long[] timesMs = times(run(BrokerProcess.class));

            // then
            System.out.println("a broker with " + GROUPS * OFFSETS_PER_GROUP + " committed offsets of " + GROUPS
                    + " groups: all served " + timesMs[0] + " ms after its process began, " + timesMs[2]
                    + " ms after the broker did (" + timesMs[1] + " ms until its ports are open); processor time "
                    + timesMs[3] + " ms");
            assertThat(timesMs[3]).isLessThan(MAX_PROCESSOR_TIME_MS);
        }
    }

    private String run(Class<?> program) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms512m",
                "-Xmx512m",
                "-Dlogback.configurationFile=" + Path.of("..", "conf", "logback.xml"),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                program.getName(),
                dataDirectory.toString(),
                TOPIC,
                String.valueOf(GROUPS),
                String.valueOf(OFFSETS_PER_GROUP)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("the broker does not end: " + printed);
        }
        assertThat(process.exitValue()).as(printed).isZero();
        return printed;
    }

    private static long[] times(String printed) {
        String times = printed.lines()
                .filter(line -> line.startsWith(BrokerProcess.RESULT))
                .findFirst()
                .orElseThrow();
        return Arrays.stream(times.substring(BrokerProcess.RESULT.length()).split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
    }
}
