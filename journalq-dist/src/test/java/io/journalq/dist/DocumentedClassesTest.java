package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that the classes that documents name exist: those with a package, those with a member, and tests. Results name
 * the classes of their time, and are not checked.
 */
class DocumentedClassesTest {
    private static final Path CHECKOUT = Path.of("..");

    /** The package, if any, the class, and a member, if any. */
    private static final Pattern NAME =
            Pattern.compile("`((?:[a-z][a-z0-9]*\\.)*)([A-Z]\\w*)(?:\\.(\\w+))?(?:\\([^`]*)?`");

    private static final Pattern OTHERS = Pattern.compile("(java|com|org|kgo)\\..*");
    private static final Pattern TEST = Pattern.compile("\\w+(Test|Run|Benchmark|Simulation)");

    /** The source files by the names of their classes. */
    private static Map<String, List<Path>> sources;

    @TempDir
    private Path directory;

    @BeforeAll
    static void findSources() throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(CHECKOUT)) {
            for (Path source : modules.map(module -> module.resolve("src"))
                    .filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(source)) {
                    files.filter(file -> file.toString().endsWith(".java")).forEach(found::add);
                }
            }
        }
        assertThat(found).hasSizeGreaterThan(1_000);
        sources = found.stream()
                .collect(Collectors.groupingBy(
                        file -> file.getFileName().toString().replace(".java", "")));
    }

    @Test
    void shouldExistWhenADocumentNamesAClass() throws IOException {
        List<String> missing = new ArrayList<>();
        for (Path document : documents()) {
            missing.addAll(missingClasses(document));
        }

        assertThat(missing).isEmpty();
    }

    @Test
    void shouldNameTheClassWhenItIsMissing() throws IOException {
        Path page = directory.resolve("page.md");
        Files.writeString(
                page,
                """
                `journal.Journal`, `journal.JournalConfig.withCompaction`, `io.journalq.server.journal.Journal`
                `wal.Journal`, `Journal.append(batch)`, `Journal.vanish()`, `DocumentedClassesTest`, `AbsentTest`
                `java.time.Duration`, `Unknown`, `Runtime.maxMemory`
                """);

        assertThat(missingClasses(page))
                .containsExactly(page + ": wal.Journal", page + ": Journal.vanish", page + ": AbsentTest");
    }

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>(List.of(CHECKOUT.resolve("CONTRIBUTING.md")));
        for (String kind : List.of("decisions", "explanation", "guides")) {
            try (Stream<Path> files = Files.list(CHECKOUT.resolve("docs").resolve(kind))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
            }
        }
        documents.add(CHECKOUT.resolve("docs").resolve("ARCHITECTURE.md"));
        documents.add(CHECKOUT.resolve("docs").resolve("protocol-gaps.md"));
        return documents;
    }

    private static List<String> missingClasses(Path document) throws IOException {
        List<String> missing = new ArrayList<>();
        Matcher name = NAME.matcher(Files.readString(document));
        while (name.find()) {
            String inPackage = name.group(1) + name.group(2);
            String member = name.group(3);
            if (!OTHERS.matcher(inPackage).matches()
                    && !exists(name.group(1), name.group(2), member == null ? "" : member)) {
                missing.add(document + ": " + inPackage + (member == null ? "" : "." + member));
            }
        }
        return missing;
    }

    private static boolean exists(String packageName, String className, String member) throws IOException {
        List<Path> found = sources.getOrDefault(className, List.of());
        if (found.isEmpty()) {
            return packageName.isEmpty() && !TEST.matcher(className).matches();
        }
        Path end = Path.of(packageName.replace('.', '/'), className + ".java");
        for (Path file : found) {
            if (file.endsWith(end)
                    && Pattern.compile("\\b" + member + "\\b")
                            .matcher(Files.readString(file))
                            .find()) {
                return true;
            }
        }
        return false;
    }
}
