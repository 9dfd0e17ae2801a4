package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the check of journals says of every kind of file that a broker leaves, transactions among them. */
class JournalFilesTest {
    @TempDir
    private Path data;

    @BeforeEach
    void copy() throws IOException, URISyntaxException {
        Path golden = Path.of(getClass().getResource("/golden/formats-1").toURI());
        try (Stream<Path> all = Files.walk(golden)) {
            for (Path from : all.toList()) {
                Path to = data.resolve(golden.relativize(from).toString());
                if (Files.isDirectory(from)) {
                    Files.createDirectories(to);
                } else {
                    Files.copy(from, to);
                }
            }
        }
    }

    private CommandRun verify() {
        return CommandRun.journalq("journal", "verify", data.toString(), "--output", "json");
    }

    private List<Path> files(String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(data)) {
            return all.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }

    @Test
    void shouldFindNothingWrongWithAnyFileThatABrokerWrote() throws IOException {
        assertThat(files(".txnindex")).isNotEmpty();
        assertThat(files(".snapshot")).isNotEmpty();

        CommandRun verify = verify();

        assertThat(verify.exitCode()).as(verify.out() + verify.err()).isEqualTo(ExitCode.DONE);
    }

    @Test
    void shouldNameAnIndexOfTransactionsThatIsDamagedAndMoveItAside() throws IOException {
        // given
        Path index = files(".txnindex").get(0);
        byte[] bytes = Files.readAllBytes(index);
        bytes[bytes.length - 1] ^= 1;
        Files.write(index, bytes);

        // when
        CommandRun verify = verify();
        CommandRun repair = CommandRun.journalq("journal", "repair", data.toString());

        // then
        assertThat(verify.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(verify.out()).contains("bad_derived_file", index.toString(), "wrong CRC");
        assertThat(repair.outLines()).singleElement().satisfies(line -> assertThat(line)
                .contains(index.toString(), "it is rebuilt from the"));
    }
}
