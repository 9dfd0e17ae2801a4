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

/** {@code journalq-bench report}: tables and charts of the documents, anew from the raw results. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Fills the marked places of README.md and docs/benchmarks with tables and charts made from the raw results"
                    + " in",
            "the repository. docs/benchmarks/METHOD.md says how a place is marked.",
            "Exits with 0 when all is done, 1 when a place cannot be filled, or is out of date with --check, 2 on a"
                    + " wrong",
            "command line."
        })
public final class ReportCommand implements Callable<Integer> {
    @Option(names = "--home", paramLabel = "FOLDER", description = "The checkout. Default: where this program is.")
    private Path home;

    @Option(names = "--check", description = "Change nothing; say what is out of date.")
    private boolean check;

    @Override
    public Integer call() throws IOException {
        Path root = home == null ? Path.of(System.getProperty("journalq.home", ".")) : home;
        List<String> stale = new ArrayList<>();
        for (Path file : documents(root)) {
            Document document = new Document(file);
            if (check && !document.isCurrent()) {
                stale.add(root.relativize(file).toString());
            } else if (!check && document.fill()) {
                System.out.println("changed " + root.relativize(file));
            }
        }
        if (!stale.isEmpty()) {
            throw new BenchException("out of date: " + String.join(", ", stale), "run bin/journalq-bench report");
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
