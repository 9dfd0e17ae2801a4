package io.journalq.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTailTest {
    @TempDir
    private Path directory;

    @Test
    void shouldShowOnlyTheLastLinesWrittenSinceTheStart() throws IOException {
        // given
        Path log = Files.writeString(directory.resolve("log"), "old\n");
        LogTail tail = new LogTail(log);

        // when
        Files.writeString(log, "old\none\ntwo\nthree\n");

        // then
        assertThat(tail.lastLines(2)).containsExactly("two", "three");
        assertThat(tail.lastLines(10)).containsExactly("one", "two", "three");
    }

    @Test
    void shouldLeaveOutStackTraces() throws IOException {
        // given
        Path log = directory.resolve("log");
        LogTail tail = new LogTail(log);

        // when
        Files.writeString(
                log,
                "level=ERROR cannot bind a.Failure: no port | at a.B.c(B.java:1) | at d.E.f"
                        + " | Caused by: java.io.IOException: in use | at g.H.i | ... 2 common frames omitted\n");

        // then
        assertThat(tail.lastLines(1))
                .containsExactly("level=ERROR cannot bind a.Failure: no port | Caused by: java.io.IOException: in use");
    }
}
