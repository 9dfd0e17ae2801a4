package io.journalq.bench.profile;

import io.journalq.bench.BenchException;
import io.journalq.bench.output.ResultDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq-bench profile}: any scenario, with flight recordings of broker and client. */
@Command(
        name = "profile",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs a scenario in a process of its own, with flight recordings of it and of the brokers that it starts,"
                    + " and",
            "draws a flame graph of each: client.html, broker.html. What follows the scenario's name goes to it as it"
                    + " is.",
            "Brokers that do not run on Java are left out. Exits as the scenario does."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench profile live --duration 20s",
            "  journalq-bench profile --results case3 produce --case 3 --duration 20s"
        })
public final class ProfileCommand implements Callable<Integer> {
    private static final String RECORD =
            "-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=%s -Xlog:jfr*=error";

    @Parameters(index = "0", paramLabel = "SCENARIO", description = "Such as live, latency, matrix or produce.")
    private String scenario;

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description =
                    "For recordings and pages; before the scenario's name. Default: a new directory in bench-results.")
    private Path results;

    @Parameters(index = "1..*", paramLabel = "ARGUMENT", description = "Of the scenario.")
    private List<String> arguments = new ArrayList<>();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path directory = ResultDirectory.open(results, "profile").toAbsolutePath();
        Path recordings = Files.createDirectories(directory.resolve("recordings"));
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "-Djournalq.home=" + System.getProperty("journalq.home", "."),
                "-cp",
                System.getProperty("java.class.path"),
                "io.journalq.bench.cli.BenchMain",
                scenario));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        // Every Java that is started below reads this.
        builder.environment().put("JDK_JAVA_OPTIONS", RECORD.formatted(recordings));
        int exitCode = builder.start().waitFor();
        int pages = draw(recordings, directory);
        if (pages == 0) {
            throw new BenchException(
                    "there are no recordings in " + recordings, "run it on a JDK with flight recorder");
        }
        return exitCode;
    }

    private static int draw(Path recordings, Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(recordings)) {
            files = all.filter(file -> file.toString().endsWith(".jfr"))
                    .sorted()
                    .toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        int brokers = 0;
        int drawn = 0;
        for (Path file : files) {
            String program = FlameGraph.programOf(file);
            String name = "client";
            if (!program.contains("BenchMain")) {
                brokers++;
                name = brokers == 1 ? "broker" : "broker-" + brokers;
            }
            Path page = directory.resolve(name + ".html");
            FlameGraph.write(file, page);
            System.err.println(page);
            drawn++;
        }
        return drawn;
    }
}
