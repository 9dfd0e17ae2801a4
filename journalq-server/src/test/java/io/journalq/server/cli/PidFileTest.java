package io.journalq.server.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PidFileTest {
    @TempDir
    private Path folder;

    @Test
    void shouldFindTheProcessItRemembers() throws IOException {
        PidFile pidFile = new PidFile(folder);
        assertThat(pidFile.runningProcess()).isEmpty();

        pidFile.write(ProcessHandle.current());

        assertThat(pidFile.runningProcess()).contains(ProcessHandle.current());
        assertThat(Files.readAllLines(folder.resolve("journalq.pid")).get(0))
                .isEqualTo(Long.toString(ProcessHandle.current().pid()));
        pidFile.delete();
        assertThat(pidFile.runningProcess()).isEmpty();
    }

    @Test
    void shouldFindNothingWhenTheIdWasGivenToAnotherProcess() throws IOException {
        Files.writeString(
                folder.resolve("journalq.pid"), ProcessHandle.current().pid() + "\n1000\n");

        assertThat(new PidFile(folder).runningProcess()).isEmpty();
    }

    @Test
    void shouldFindNothingInATornFile() throws IOException {
        for (String content : List.of("", "x\ny\n", "12")) {
            Files.writeString(folder.resolve("journalq.pid"), content);
            assertThat(new PidFile(folder).runningProcess()).isEmpty();
        }
    }

    @Test
    void shouldShowOnlyTheLastLinesWrittenSinceTheStart() throws IOException {
        // given
        Path log = Files.writeString(folder.resolve("log"), "old\n");
        LogTail tail = new LogTail(log);

        // when
        Files.writeString(log, "old\none\ntwo\nthree\n");

        // then
        assertThat(tail.lastLines(2)).containsExactly("two", "three");
        assertThat(tail.lastLines(10)).containsExactly("one", "two", "three");
    }
}
