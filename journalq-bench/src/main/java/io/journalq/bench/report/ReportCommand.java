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
            "Fills the marked places of README.md and docs/benchmarks with tables and charts made from the raw results"
                    + " in the repository. docs/benchmarks/METHOD.md says how a place is marked. A difference is filled"
                    + " in only if each side has five repetitions or more and their ranges do not overlap.",
            "Exits with 0 on success, 1 when a place cannot be filled, or with --check is out of date or a figure is"
                    + " typed by hand, 2 on a wrong command line."
        })
public final class ReportCommand implements Callable<Integer> {
    @Option(
            names = "--home",
            paramLabel = "DIR",
            description = "The checkout. Default: the one that this program belongs to.")
    private Path home;

    @Option(
            names = "--check",
            description = "Change nothing; report what is out of date and figures that are typed by hand.")
    private boolean check;

    @Override
    public Integer call() throws IOException {
        Path root = home == null ? Path.of(System.getProperty("journalq.home", ".")) : home;
        List<String> stale = new ArrayList<>();
        List<String> typed = new ArrayList<>();
        for (Path file : documents(root)) {
            Document document = new Document(file);
            if (check) {
                if (!document.isCurrent()) {
                    stale.add(root.relativize(file).toString());
                }
                document.typedFigures().forEach(figure -> typed.add(root.relativize(file) + ":" + figure));
            } else if (!check && document.fill()) {
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
        try (Stream<Path> files = Files.walk(root.resolve("docs/benchmarks"))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        return documents;
    }
}
