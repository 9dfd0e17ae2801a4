package io.journalq.bench.report;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code journalq-bench report}: fills tables and charts of the documents from the raw results. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Fills the tables and charts of README.md and docs/benchmarks from the raw results.",
            "docs/benchmarks/METHOD.md describes how a place in a document is marked. A difference is filled in only if"
                    + " each side has at least five repetitions and their ranges do not overlap.",
            "Exit code: 0 on success, 1 if a place cannot be filled or, with --check, is out of date or a figure is typed"
                    + " by hand, 2 if the command line is wrong."
        })
public final class ReportCommand implements Callable<Integer> {
    private static final String PAGES = "docs/benchmarks";

    @Option(
            names = "--home",
            paramLabel = "DIRECTORY",
            description = "The checkout (default: the one that contains this program).")
    private Path home;

    @Option(
            names = "--check",
            description = "Changes nothing; reports places that are out of date and figures that are typed by hand.")
    private boolean check;

    @Override
    public Integer call() throws IOException {
        Path root = home == null ? Path.of(System.getProperty("journalq.home", ".")) : home;
        if (!Files.isDirectory(root.resolve(PAGES))) {
            throw BenchException.wrongUsage(root + " has no directory " + PAGES, "use --home with a checkout");
        }
        List<String> stale = new ArrayList<>();
        List<String> typed = new ArrayList<>();
        for (Path file : documents(root)) {
            Document document = new Document(file);
            if (check) {
                if (!document.isCurrent()) {
                    stale.add(root.relativize(file).toString());
                }
                document.typedFigures().forEach(figure -> typed.add(root.relativize(file) + ":" + figure));
            } else if (document.fill()) {
                System.out.println("changed " + root.relativize(file));
            }
        }
        if (!stale.isEmpty()) {
            throw new BenchException("out of date: " + String.join(", ", stale), "run bin/journalq-bench report");
        }
        if (!typed.isEmpty()) {
            throw new BenchException(
                    "figures typed by hand: " + String.join("; ", typed),
                    "fill them in from raw results (docs/benchmarks/METHOD.md), or delete them");
        }
        return 0;
    }

    private static List<Path> documents(Path root) throws IOException {
        List<Path> documents = new ArrayList<>();
        if (Files.exists(root.resolve("README.md"))) {
            documents.add(root.resolve("README.md"));
        }
        try (Stream<Path> files = Files.walk(root.resolve(PAGES))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        return documents;
    }
}
