package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Restarts a broker with 1,000,000 committed offsets of 1,000 groups as a separate process, from jars and with the
 * class archive of an earlier process, like {@code bin/journalq-server}. Prints the time until all groups were served.
 * {@code -Djournalq.start.processes=N} repeats the start, and {@code -Djournalq.start.archive=false} starts without the
 * class archive.
 */
@Tag("long")
class ManyCommittedOffsetsTest {
    private static final String TOPIC = "t";
    private static final int GROUPS = 1_000;
    private static final int OFFSETS_PER_GROUP = 1_000;
    private static final boolean KEEPS_CLASSES = !"false".equals(System.getProperty("journalq.start.archive"));
    private static final int PROCESSES = Integer.getInteger("journalq.start.processes", 1);

    /** A multiple of the usual time: the limit detects quadratic behaviour, not a slow machine. */
    private static final long MAX_PROCESSOR_TIME_MS = 30_000;

    private static final long LIMIT_SECONDS = 240;

    @TempDir
    private Path directory;

    @Test
    void shouldServeAllGroupsWithoutMuchWorkWhenItStartsWithAMillionCommittedOffsets() throws Exception {
        // given
        Path archive = directory.resolve("classes.jsa");
        run(CommitProcess.class, KEEPS_CLASSES ? List.of("-XX:ArchiveClassesAtExit=" + archive) : List.of());
        List<String> fromArchive = Files.exists(archive) ? List.of("-XX:SharedArchiveFile=" + archive) : List.of();

        for (int i = 0; i < PROCESSES; i++) {
            // when
            long[] timesMs = times(run(BrokerProcess.class, fromArchive));

            // then
            System.out.println("a broker with " + GROUPS * OFFSETS_PER_GROUP + " committed offsets of " + GROUPS
                    + " groups: all served " + timesMs[0] + " ms after its process began, " + timesMs[2]
                    + " ms after the broker did (" + timesMs[1] + " ms until its ports are open); processor time "
                    + timesMs[3] + " ms");
            assertThat(timesMs[3]).isLessThan(MAX_PROCESSOR_TIME_MS);
        }
    }

    private String run(Class<?> program, List<String> options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        if (KEEPS_CLASSES) {
            command.add("-Djournalq.native=" + directory.resolve("native"));
        }
        command.addAll(List.of(
                "-Xlog:cds=off",
                "-Xlog:cds+dynamic=off",
                "-Xms512m",
                "-Xmx512m",
                "-Dlogback.configurationFile=" + Path.of("..", "conf", "logback.xml"),
                "-cp",
                classPath(),
                program.getName(),
                directory.resolve("data").toString(),
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
        assertThat(printed)
                .as("the library that an earlier process kept")
                .doesNotContain("using the library in the jar");
        return printed;
    }

    /**
     * The class path of the tests, with jars instead of directories, because Java archives no classes from directories.
     */
    private String classPath() throws IOException {
        String tests = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> entries = new ArrayList<>();
        for (String entry : tests.split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            entries.add(Files.isDirectory(path) ? jar(path, entries.size()).toString() : entry);
        }
        return String.join(File.pathSeparator, entries);
    }

    private Path jar(Path classes, int number) throws IOException {
        Path jar = directory.resolve("classes-" + number + ".jar");
        if (Files.exists(jar)) {
            return jar;
        }
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                Stream<Path> files = Files.walk(classes)) {
            out.setLevel(Deflater.BEST_SPEED);
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
        return jar;
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
