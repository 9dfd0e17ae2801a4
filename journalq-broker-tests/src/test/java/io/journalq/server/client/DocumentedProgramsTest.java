package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.broker.TestBroker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compiles every program of {@code docs/guides/client.md} as it stands there, and runs them one after the other. */
@Timeout(120)
final class DocumentedProgramsTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS_NAME = Pattern.compile("public class (\\w+)");

    /** What each program must print somewhere. */
    private static final Map<String, String> EXPECTED = Map.ofEntries(
            Map.entry("CreateTopic", "retention.ms"),
            Map.entry("SendOne", "offset 0"),
            Map.entry("SendMany", "10000 acknowledged"),
            Map.entry("SendBatch", "recordCount=100"),
            Map.entry("ReadAll", "one coffee"),
            Map.entry("ReadRecent", "10101 records"),
            Map.entry("ReadInGroup", "read 10"),
            Map.entry("CommitByHand", "committed in "),
            Map.entry("CopyExactlyOnce", "10101 copied"),
            Map.entry("MoveGroup", "moved "),
            Map.entry("SendObjects", "coffee costs 320 cents"),
            Map.entry("AddOrigin", "acknowledged [origin=1 bytes] at offset 1"),
            Map.entry("CreateAsync", " topics"),
            Map.entry("ReadByDemand", "received 100 records"));

    @TempDir
    Path directory;

    @Test
    void shouldRunEveryDocumentedProgram() throws Exception {
        // given
        Map<String, Path> sources = extract();
        assertThat(sources.keySet()).isEqualTo(EXPECTED.keySet());
        Path classes = Files.createDirectories(directory.resolve("classes"));
        compile(sources, classes);
        try (TestBroker broker = new TestBroker(directory.resolve("data")).start();
                URLClassLoader loader = new URLClassLoader(
                        new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
            for (String name : sources.keySet()) {
                // when
                String printed = run(loader.loadClass(name), broker.bootstrap());
                // then
                assertThat(printed).as(name).contains(EXPECTED.get(name));
            }
        }
    }

    private Map<String, Path> extract() throws Exception {
        String text = Files.readString(document());
        Map<String, Path> sources = new LinkedHashMap<>();
        Matcher program = PROGRAM.matcher(text);
        while (program.find()) {
            Matcher name = CLASS_NAME.matcher(program.group(1));
            assertThat(name.find()).as("a program is a public class").isTrue();
            Path source = directory.resolve(name.group(1) + ".java");
            Files.writeString(source, program.group(1));
            sources.put(name.group(1), source);
        }
        return sources;
    }

    /** The document, from this module's directory or the project's. */
    private static Path document() {
        Path nextDoor = Path.of("..", "docs", "guides", "client.md");
        return Files.exists(nextDoor) ? nextDoor : Path.of("docs", "guides", "client.md");
    }

    /** Compiles each program alone, so that none needs another one. */
    private static void compile(Map<String, Path> sources, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> options =
                List.of("-proc:none", "-cp", System.getProperty("java.class.path"), "-d", classes.toString());
        // The libraries are opened only once.
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            for (Path source : sources.values()) {
                StringWriter complaints = new StringWriter();
                boolean compiled = compiler.getTask(
                                complaints, files, null, options, null, files.getJavaFileObjects(source))
                        .call();
                assertThat(compiled).as(complaints.toString()).isTrue();
            }
        }
    }

    private static String run(Class<?> program, String bootstrap) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream console = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            program.getMethod("main", String[].class)
                    .invoke(null, (Object) List.of(bootstrap).toArray(new String[0]));
        } finally {
            System.setOut(console);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
