package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Does what the tutorial and a guide say, with the unpacked archive: writes their programs and runs their commands, in
 * order.
 */
class TutorialTest {
    private static final Path TUTORIAL = Path.of("..", "docs", "tutorial", "getting-started.md");
    private static final Path SECURE_GUIDE = Path.of("..", "docs", "guides", "secure-a-broker.md");
    private static final Pattern BLOCK = Pattern.compile("(?s)```(sh|java|text)\\n(.*?)```");
    private static final Pattern CLASS_NAME = Pattern.compile("public class (\\w+)");

    @TempDir
    private Path directory;

    @AfterEach
    void stopWhatIsLeft() {
        ProcessHandle.allProcesses()
                .filter(process -> process.info().commandLine().orElse("").contains(directory.toString()))
                .forEach(ProcessHandle::destroyForcibly);
    }

    @Test
    @Tag("long")
    void shouldRunEveryCommandOfTheTutorial() throws Exception {
        // given
        Path home = UnpackedArchive.in(Files.createDirectory(directory.resolve("home")));
        String broker = "127.0.0.1:" + LoopbackPorts.next();
        Commands commands = commands(home, Files.readString(TUTORIAL).replace("localhost:9092", broker));
        Path java = Path.of(System.getProperty("java.home"));
        Map<String, String> environment = Map.of(
                "JAVA_HOME",
                java.toString(),
                "PATH",
                java.resolve("bin") + ":" + System.getenv("PATH"),
                "JOURNALQ_HEAP",
                "128m",
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

        // when
        ScriptRun run = ScriptRun.of(home, environment, List.of("bash", "-c", commands.script()));

        // then
        assertThat(run.exitCode()).as("%s%s", run.out(), run.err()).isZero();
        assertThat(run.out().lines()).containsAll(commands.expected());
        assertThat(run.out()).contains("JournalQ is ready at " + broker, "offset ", "stopped the broker");
    }

    @Test
    @Tag("long")
    void shouldRunEveryCommandOfTheGuideToSecureABroker() throws Exception {
        // given
        Path home = UnpackedArchive.in(Files.createDirectory(directory.resolve("home")));
        String broker = "localhost:" + LoopbackPorts.next();
        Commands commands = commands(home, Files.readString(SECURE_GUIDE).replace("localhost:9094", broker));
        Map<String, String> environment = Map.of(
                "JAVA_HOME",
                System.getProperty("java.home"),
                "JOURNALQ_HEAP",
                "128m",
                "JOURNALQ_ADMIN_LISTENER",
                "127.0.0.1:0",
                "XDG_CONFIG_HOME",
                directory.resolve("user").toString());

        // when
        ScriptRun run = ScriptRun.of(home, environment, List.of("bash", "-c", commands.script()));

        // then
        assertThat(run.exitCode()).as("%s%s", run.out(), run.err()).isZero();
        assertThat(run.out().lines()).containsAll(commands.expected());
        assertThat(run.out()).contains("the audit log is intact: ", "stopped the broker");
    }

    /** What a document lets its reader run, and lines that it says are printed. */
    private record Commands(String script, List<String> expected) {}

    private static Commands commands(Path home, String document) throws IOException {
        StringBuilder script = new StringBuilder("set -e\n");
        List<String> expected = new ArrayList<>();
        Matcher block = BLOCK.matcher(document);
        while (block.find()) {
            String text = block.group(2);
            switch (block.group(1)) {
                case "sh" -> script.append(text);
                case "text" -> expected.addAll(text.lines().toList());
                default -> writeProgram(home, text);
            }
        }
        return new Commands(script.toString(), expected);
    }

    private static void writeProgram(Path home, String text) throws IOException {
        Matcher name = CLASS_NAME.matcher(text);
        assertThat(name.find()).as("a program is a public class").isTrue();
        Files.writeString(home.resolve(name.group(1) + ".java"), text);
    }
}
