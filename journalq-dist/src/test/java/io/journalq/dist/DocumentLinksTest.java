package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that every relative link in the documents leads to a file, and to a heading if it names one. */
class DocumentLinksTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Pattern CODE = Pattern.compile("(?s)```.*?\\n\\s*```|`[^`\\n]*`");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern EXTERNAL = Pattern.compile("[a-z]+:.*");

    @TempDir
    private Path directory;

    @Test
    void shouldLeadToAFileWhenALinkIsRelative() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path document : documents()) {
            broken.addAll(brokenLinks(document));
        }

        assertThat(broken).isEmpty();
    }

    @Test
    void shouldNameTheLinkWhenItsTargetIsMissing() throws IOException {
        Path page = directory.resolve("page.md");
        Files.writeString(
                page,
                """
                # One `b_c`, two

                [same page](#one-b_c-two), [other](absent.md), [missing heading](page.md#three), [web](https://x.org)
                `[code](absent.md)`
                """);

        assertThat(brokenLinks(page)).containsExactly(page + ": absent.md", page + ": page.md#three");
    }

    private static List<Path> documents() throws IOException {
        List<Path> documents = new ArrayList<>();
        try (Stream<Path> top = Files.list(CHECKOUT);
                Stream<Path> docs = Files.walk(CHECKOUT.resolve("docs"))) {
            Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .forEach(documents::add);
        }
        assertThat(documents).hasSizeGreaterThan(20);
        return documents;
    }

    private static List<String> brokenLinks(Path document) throws IOException {
        List<String> broken = new ArrayList<>();
        Matcher link = LINK.matcher(CODE.matcher(Files.readString(document)).replaceAll(""));
        while (link.find()) {
            String[] target = link.group(1).split("#", 2);
            Path file = target[0].isEmpty() ? document : document.resolveSibling(target[0]);
            boolean found = EXTERNAL.matcher(link.group(1)).matches()
                    || (Files.exists(file)
                            && (target.length == 1 || headings(file).contains(target[1])));
            if (!found) {
                broken.add(document + ": " + link.group(1));
            }
        }
        return broken;
    }

    /** The anchors that GitHub gives to the headings of a page. */
    private static Set<String> headings(Path file) throws IOException {
        return HEADING.matcher(Files.readString(file))
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }
}
