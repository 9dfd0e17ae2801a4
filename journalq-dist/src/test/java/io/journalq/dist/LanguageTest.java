package io.journalq.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that documents and Java sources, with their names, use the terms of {@code terms.txt}, and that lines and
 * sentences of documents are short.
 */
class LanguageTest {
    private static final Path CHECKOUT = Path.of("..");
    private static final Path TERMS = Path.of("src", "test", "language", "terms.txt");
    /** Rendered from the code, whose texts are checked themselves. */
    private static final String RENDERED = "docs/reference/";

    private static final String THIS_FILE = "LanguageTest.java";

    /** Directories of the checkout that are read as a whole. Of others, {@code src} is read. */
    private static final Set<String> WHOLE_DIRECTORIES = Set.of("docs", "bin", ".ci", "conf", "clients-smoke");

    /** Suffixes of sources; {@code run} is the script of a smoke program. */
    private static final Set<String> SOURCES =
            Set.of("java", "go", "py", "js", "rs", "sh", "yaml", "xml", "run", "quickstart", "Dockerfile");

    private static final int MAX_LINE_CHARACTERS = 120;
    private static final int MAX_SENTENCE_WORDS = 45;

    /** Generated results, comments, code blocks. */
    private static final Pattern NOT_PROSE =
            Pattern.compile("(?s)<!-- results.*?<!-- /results -->|<!--.*?-->|(?m)^ *```.*?^ *```");

    private static final Pattern INLINE_CODE = Pattern.compile("`[^`]+`");
    private static final Pattern LINK_TARGET = Pattern.compile("(?<=\\])\\([^)]*\\)");
    private static final Pattern NEW_PARAGRAPH = Pattern.compile("\\s*|#.*|\\|.*|\\s*([-*]|\\d+\\.)\\s.*");
    private static final Pattern SENTENCE_END = Pattern.compile("[.!?][)*\"]*\\s+");

    /** Where a word of a Java name ends and the next one begins: {@code shouldFail}, {@code MAX_BYTES}. */
    private static final Pattern WORD_OF_NAME = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_");

    /** Words to replace. */
    private record Term(Pattern pattern, String replacement) {}

    /**
     * All terms.
     *
     * @param any finds every place where one of them may begin, so that a text is not searched for each of them
     */
    private record Terms(List<Term> all, Pattern any) {}

    @Test
    void shouldUseTheTermsOfTheField() throws IOException {
        List<String> violations = new ArrayList<>();
        Terms terms = terms();
        for (String file : files(Set.of("md"))) {
            violations.addAll(checkDocument(file, Files.readString(CHECKOUT.resolve(file)), terms));
        }
        for (String file : files(SOURCES)) {
            violations.addAll(checkTerms(file, splitNames(Files.readString(CHECKOUT.resolve(file))), terms));
        }

        assertThat(violations)
                .as("language: replacements are listed in journalq-dist/%s", TERMS)
                .isEmpty();
    }

    @Test
    void shouldNameFileLineWordAndReplacementWhenTextBreaksARule() throws IOException {
        String longSentence = ("word ".repeat(15) + "\n").repeat(3) + "end.";
        String text = "The `folder` is fine.\n\nA folder\nis not.\n\n" + longSentence + "\n\n| " + "x".repeat(150)
                + " |\n" + "y".repeat(130) + "\n```\nanswer " + "z".repeat(150) + "\n```\n";

        assertThat(checkDocument("a.md", text, terms()))
                .containsExactly(
                        "a.md:3: \"folder\": write: directory",
                        "a.md:6: a sentence of 46 words: write at most 45",
                        "a.md:12: a line of 130 characters: write at most 120");
        assertThat(checkTerms(
                        "A.java",
                        splitNames("int size; // bytes\nlog(\"the folder\", dataFolder, MAX_ANSWERS);"),
                        terms()))
                .containsExactly(
                        "A.java:2: \"folder\": write: directory",
                        "A.java:2: \"Folder\": write: directory",
                        "A.java:2: \"ANSWERS\": write: response, respond");
    }

    private static Terms terms() throws IOException {
        List<Term> terms = new ArrayList<>();
        for (String line : Files.readAllLines(TERMS)) {
            if (!line.startsWith("#")) {
                String[] sides = line.split(" = ", 2);
                String words = sides[0].replace(" ", "\\s+");
                terms.add(new Term(Pattern.compile("(?i)(?:" + words + ")(?!\\w)"), sides[1]));
            }
        }
        String any = terms.stream().map(term -> term.pattern().pattern()).collect(Collectors.joining("|"));
        return new Terms(terms, Pattern.compile("\\b(?:" + any + ")"));
    }

    /** The project's files with one of these suffixes, but not this one, which quotes the terms. */
    private static List<String> files(Set<String> suffixes) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> top = Files.list(CHECKOUT)) {
            for (Path entry : top.toList()) {
                boolean whole = Files.isRegularFile(entry)
                        || WHOLE_DIRECTORIES.contains(entry.getFileName().toString());
                Path root = whole ? entry : entry.resolve("src");
                if (Files.exists(root)) {
                    try (Stream<Path> files = Files.walk(root)) {
                        files.filter(file -> suffixes.contains(suffix(file)) && Files.isRegularFile(file))
                                .map(file -> CHECKOUT.relativize(file).toString())
                                .filter(name -> !name.startsWith(RENDERED) && !name.endsWith(THIS_FILE))
                                // What smoke programs have installed.
                                .filter(name -> !name.contains("/target/"))
                                .forEach(names::add);
                    }
                }
            }
        }
        return names;
    }

    private static String suffix(Path file) {
        String name = file.getFileName().toString();
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static List<String> checkDocument(String file, String text, Terms terms) {
        String prose = NOT_PROSE.matcher(text).replaceAll(found -> blank(found.group()));
        String words =
                INLINE_CODE.matcher(prose).replaceAll(code -> code.group().replaceAll("[^\\n]", "_"));
        words = LINK_TARGET.matcher(words).replaceAll(target -> blank(target.group()));
        List<String> violations = checkTerms(file, words, terms);
        checkSentences(file, words.lines().toList(), violations);
        List<String> lines = prose.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            int length = lines.get(i).stripTrailing().length();
            if (length > MAX_LINE_CHARACTERS && !lines.get(i).startsWith("|")) {
                violations.add("%s:%d: a line of %d characters: write at most %d"
                        .formatted(file, i + 1, length, MAX_LINE_CHARACTERS));
            }
        }
        return violations;
    }

    private static List<String> checkTerms(String file, String text, Terms terms) {
        List<String> violations = new ArrayList<>();
        Matcher place = terms.any().matcher(text);
        for (int from = 0; place.find(from); from = place.start() + 1) {
            for (Term term : terms.all()) {
                Matcher matcher = term.pattern().matcher(text).region(place.start(), text.length());
                if (matcher.lookingAt()) {
                    long line = 1
                            + text.substring(0, place.start())
                                    .chars()
                                    .filter(c -> c == '\n')
                                    .count();
                    violations.add(
                            "%s:%d: \"%s\": write: %s".formatted(file, line, matcher.group(), term.replacement()));
                }
            }
        }
        return violations;
    }

    private static void checkSentences(String file, List<String> lines, List<String> violations) {
        StringBuilder paragraph = new StringBuilder();
        int begin = 0;
        for (int i = 0; i <= lines.size(); i++) {
            if (i == lines.size() || NEW_PARAGRAPH.matcher(lines.get(i)).matches()) {
                for (String sentence : SENTENCE_END.split(paragraph, -1)) {
                    int count = sentence.strip().split("\\s+", -1).length;
                    if (count > MAX_SENTENCE_WORDS) {
                        violations.add("%s:%d: a sentence of %d words: write at most %d"
                                .formatted(file, begin + 1, count, MAX_SENTENCE_WORDS));
                    }
                }
                paragraph.setLength(0);
                begin = i < lines.size() && lines.get(i).isBlank() ? i + 1 : i;
            }
            if (i < lines.size() && !lines.get(i).startsWith("|")) {
                paragraph.append(lines.get(i)).append('\n');
            }
        }
    }

    /** Java source with a space between the words of each name. */
    private static String splitNames(String source) {
        return WORD_OF_NAME.matcher(source).replaceAll(" ");
    }

    private static String blank(String text) {
        return text.replaceAll("[^\\n]", " ");
    }
}
