package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Does what the README of the archive says: runs its commands in the unpacked archive, and follows its links. */
class ArchiveReadmeTest {
    private static final Pattern BLOCK = Pattern.compile("(?s)```sh\\n(.*?)```");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s#]+)\\)");

    @TempDir
    private static Path directory;

    private static Path home;
    private static String readme;

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        home = UnpackedArchive.in(Files.createDirectory(directory.resolve("home")));
        readme = Files.readString(home.resolve("README.md"));
    }

    @AfterEach
    void stopWhatIsLeft() {
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory.toString()))
                .forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    void shouldServeMessagesWhenTheFirstCommandsAreRun() throws Exception {
        List<String> blocks = blocks();

        ScriptRun run = run(blocks.get(0));

        assertThat(run.exitCode()).as("%s%s", run.out(), run.err()).isZero();
        assertThat(run.out().lines()).contains("hello");
        assertThat(run.out()).contains("JournalQ is ready at ", "stopped the broker");
    }

    @Test
    @Tag("long")
    void shouldRunEveryToolWhenItsCommandIsRun() throws Exception {
        List<String> blocks = blocks();
        assertThat(blocks).hasSize(3);

        for (String block : blocks.subList(1, blocks.size())) {
            for (String command : block.lines().toList()) {
                ScriptRun run = run(command);
                assertThat(run.exitCode())
                        .as("%s: %s%s", command, run.out(), run.err())
                        .isZero();
            }
        }
    }

    @Test
    void shouldLeadToAFileOfTheArchiveWhenItLinksToOne() {
        List<String> links =
                LINK.matcher(readme).results().map(link -> link.group(1)).toList();

        assertThat(links).hasSizeGreaterThan(5).allSatisfy(link -> assertThat(home.resolve(link))
                .exists());
    }

    private List<String> blocks() {
        return BLOCK.matcher(readme)
                .results()
                .map((MatchResult block) -> block.group(1))
                .toList();
    }

    private ScriptRun run(String script) throws IOException, InterruptedException {
        String broker = "127.0.0.1:" + LoopbackPorts.next();
        Map<String, String> environment = Map.of(
                "JAVA_HOME",
                System.getProperty("java.home"),
                "JOURNALQ_LOG_DIR",
                directory.resolve("logs").toString(),
                "JOURNALQ_LISTENERS",
                "PLAINTEXT://" + broker,
                "JOURNALQ_ADMIN_LISTENER",
                "127.0.0.1:0",
                "JOURNALQ_GATEWAY_LISTENER",
                "127.0.0.1:0",
                "JOURNALQ_BOOTSTRAP",
                broker);
        return ScriptRun.of(home, environment, List.of("bash", "-c", "set -e\n" + script));
    }
}
