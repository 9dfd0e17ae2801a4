package io.journalq.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.DocumentationTool;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Javadoc of the client, with the packages that the build excludes. */
final class JavadocTest {
    private static final Path POM = Path.of("pom.xml");
    private static final Path SOURCES = Path.of("src", "main", "java");
    private static final Pattern EXCLUDED = Pattern.compile("<excludePackageNames>(.*?)</excludePackageNames>");

    @TempDir
    Path output;

    @Test
    void shouldDocumentOnlyTheApiAndHaveNoErrorsWhenItIsGenerated() throws IOException {
        DocumentationTool javadoc = ToolProvider.getSystemDocumentationTool();
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        // when
        List<String> options = new ArrayList<>(List.of("-quiet", "-Xdoclint:all,-missing", "-Werror"));
        options.addAll(List.of("-sourcepath", SOURCES.toString(), "-d", output.toString()));
        options.addAll(List.of("-classpath", System.getProperty("java.class.path")));
        options.addAll(documentedPackages());
        boolean succeeded =
                javadoc.run(null, new ByteArrayOutputStream(), messages, options.toArray(new String[0])) == 0;
        // then
        assertThat(succeeded).as(messages.toString(UTF_8)).isTrue();
        assertThat(output.resolve("io/journalq/client/Consumer.html")).exists();
        assertThat(pages()).noneMatch(page -> page.contains("internal"));
        assertThat(pages()).allSatisfy(page -> assertThat(Files.readString(output.resolve(page)))
                .as("links of " + page)
                .doesNotContain("client/internal/"));
    }

    private List<String> pages() throws IOException {
        try (Stream<Path> files = Files.walk(output)) {
            return files.map(file -> output.relativize(file).toString())
                    .filter(file -> file.endsWith(".html"))
                    .sorted()
                    .toList();
        }
    }

    /** The packages with classes that the configuration of the Javadoc plugin does not exclude. */
    private static List<String> documentedPackages() throws IOException {
        Matcher configured = EXCLUDED.matcher(Files.readString(POM));
        assertThat(configured.find())
                .as("the build excludes packages from the Javadoc")
                .isTrue();
        List<String> excluded = List.of(configured.group(1).split(":", -1));
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.endsWith("package-info.java"))
                    .map(file -> SOURCES.relativize(file.getParent()).toString().replace(File.separatorChar, '.'))
                    .filter(name -> excluded.stream()
                            .noneMatch(pattern -> pattern.endsWith("*")
                                    ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                                    : name.equals(pattern)))
                    .sorted()
                    .toList();
        }
    }
}
