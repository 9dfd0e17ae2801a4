package io.journalq.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.asciidoctor.Asciidoctor;
import org.asciidoctor.Attributes;
import org.asciidoctor.Options;
import org.asciidoctor.SafeMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/**
 * The man pages are rendered from the help of all commands. Rendering takes long. Every build compares the digests of
 * each page and of its source with those of the last rendering, and the long tests compare the pages themselves.
 */
class ManPagesTest {
    private static final Path PAGES = Path.of("src", "man");
    /** A line for each page: its name, and a digest of its source and of the page. */
    private static final Path DIGESTS = Path.of("src", "test", "man", "pages.sha256");

    private static final String REWRITE = "mvn -q -pl journalq-dist -am verify -Dtest=ManPagesTest"
            + " -Djournalq.rewrite=true -Dsurefire.failIfNoSpecifiedTests=false";
    private static final int COLUMNS = 80;
    private static final Pattern VERSION = Pattern.compile("(?m)^:(revnumber|mansource):.*$");

    @TempDir
    private Path directory;

    @Test
    void shouldHaveAPageForEveryCommandWhenItIsRendered() throws IOException {
        // given
        List<CommandSpec> commands = new ArrayList<>();
        DocumentedCommandsTest.programs().forEach(program -> collect(program, commands));
        // when
        Map<String, String> sources = sources();
        if (Boolean.getBoolean("journalq.rewrite")) {
            rewrite(render());
            Files.createDirectories(DIGESTS.getParent());
            Files.writeString(DIGESTS, digests(sources, files(PAGES)));
        }
        Map<String, String> pages = files(PAGES);
        // then
        assertThat(pages.keySet())
                .as("src/man differs from the commands; render it again with: %s", REWRITE)
                .containsExactlyInAnyOrderElementsOf(commands.stream()
                        .map(command -> command.qualifiedName("-") + ".1")
                        .toList());
        assertThat(digests(sources, pages))
                .as("src/man differs from the commands; render it again with: %s", REWRITE)
                .isEqualTo(Files.readString(DIGESTS));
        for (CommandSpec command : commands) {
            String page = plain(pages.get(command.qualifiedName("-") + ".1"));
            for (OptionSpec option : command.options()) {
                if (!option.hidden()) {
                    // Of a negatable option, the page has --[no-]name.
                    assertThat(page).contains(option.longestName().replaceFirst("^-+", ""));
                }
            }
        }
    }

    @Test
    @Tag("long")
    void shouldBeThePagesThatAreRenderedFromTheCommands() throws IOException {
        sources();

        assertThat(files(PAGES))
                .as("src/man differs from the commands; render it again with: %s", REWRITE)
                .isEqualTo(render());
    }

    @Test
    @Tag("long")
    void shouldFitEightyColumnsWithoutWarningsWhenAPageIsShown() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/man")), "man is not installed");
        for (Path page : list(PAGES)) {
            ScriptRun man = ScriptRun.of(
                    directory,
                    Map.of("MANWIDTH", Integer.toString(COLUMNS), "LC_ALL", "C.UTF-8"),
                    List.of("man", "--warnings", "-l", page.toAbsolutePath().toString()));

            assertThat(man.exitCode()).as(man.err()).isZero();
            assertThat(man.err()).as(page.toString()).isEmpty();
            assertThat(man.out().lines())
                    .as(page.toString())
                    .hasSizeGreaterThan(10)
                    .allMatch(line -> line.length() <= COLUMNS);
        }
    }

    @Test
    void shouldShowThePageOfEachProgramWhenTheArchiveIsUnpacked() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/man")), "man is not installed");
        Path home = UnpackedArchive.in(directory);
        for (CommandLine program : DocumentedCommandsTest.programs()) {
            ScriptRun man = ScriptRun.of(
                    directory,
                    Map.of(),
                    List.of("man", "-M", home.resolve("share/man").toString(), program.getCommandName()));

            assertThat(man.exitCode()).as(man.err()).isZero();
            assertThat(man.out()).contains("NAME", "SYNOPSIS", program.getCommandName());
        }
    }

    /** Writes what the pages are rendered from, and returns it, without the version, by the name of the page. */
    private Map<String, String> sources() throws IOException {
        ManPageGenerator.generateManPage(
                Files.createDirectory(directory.resolve("adoc")).toFile(),
                null,
                new boolean[0],
                true,
                DocumentedCommandsTest.programs().stream()
                        .map(CommandLine::getCommandSpec)
                        .toArray(CommandSpec[]::new));
        Map<String, String> sources = new TreeMap<>();
        files(directory.resolve("adoc"))
                .forEach((name, source) -> sources.put(
                        name.replaceFirst("\\.adoc$", ".1"),
                        VERSION.matcher(source).replaceAll("")));
        return sources;
    }

    /** Renders the sources. */
    private Map<String, String> render() throws IOException {
        Path pages = Files.createDirectory(directory.resolve("man"));
        // Without the version and the date: a page changes only if the help does.
        Attributes attributes = Attributes.builder()
                .attribute("manmanual", "JournalQ manual")
                .attribute("mansource", "JournalQ")
                .attribute("revnumber", "")
                .attribute("reproducible", "")
                .build();
        Options options = Options.builder()
                .backend("manpage")
                .safe(SafeMode.UNSAFE)
                .toDir(pages.toFile())
                .attributes(attributes)
                .build();
        try (Asciidoctor asciidoctor = Asciidoctor.Factory.create()) {
            for (Path source : list(directory.resolve("adoc"))) {
                asciidoctor.convertFile(source.toFile(), options);
            }
        }
        Map<String, String> rendered = files(pages);
        rendered.replaceAll((name, page) -> withExamplesAtTheLeft(page));
        return rendered;
    }

    private static String digests(Map<String, String> sources, Map<String, String> pages) {
        StringBuilder digests = new StringBuilder();
        pages.forEach((name, page) -> {
            byte[] both = (sources.get(name) + '\0' + page).getBytes(UTF_8);
            digests.append(HexFormat.of().formatHex(sha256().digest(both)))
                    .append("  ")
                    .append(name)
                    .append('\n');
        });
        return digests.toString();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void rewrite(Map<String, String> pages) throws IOException {
        Files.createDirectories(PAGES);
        for (Path old : list(PAGES)) {
            Files.delete(old);
        }
        for (Map.Entry<String, String> page : pages.entrySet()) {
            Files.writeString(PAGES.resolve(page.getKey()), page.getValue());
        }
    }

    private static void collect(CommandLine command, List<CommandSpec> commands) {
        if (!command.getCommandSpec().usageMessage().hidden()) {
            commands.add(command.getCommandSpec());
            command.getSubcommands().values().forEach(child -> collect(child, commands));
        }
    }

    /** The text of a page without the escapes of hyphens. */
    private static String plain(String page) {
        return page.replace("\\-", "-");
    }

    /** Shows examples as far to the left as --help does. With more space at their left, some do not fit 80 columns. */
    private static String withExamplesAtTheLeft(String page) {
        return page.replace(".if n .RS 4\n.nf", ".if n .RS -5\n.nf");
    }

    private static Map<String, String> files(Path directory) throws IOException {
        Map<String, String> files = new TreeMap<>();
        for (Path file : list(directory)) {
            files.put(file.getFileName().toString(), Files.readString(file));
        }
        return files;
    }

    private static List<Path> list(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }
}
