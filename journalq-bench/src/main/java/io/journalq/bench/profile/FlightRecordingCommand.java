package io.journalq.bench.profile;

import io.journalq.bench.BenchException;
import io.journalq.bench.output.ResultDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code journalq-bench profile}: any scenario, with flight recordings of broker and client. */
@Command(
        name = "profile",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs a scenario with flight recordings, and draws flame graphs of client and brokers.",
            "The scenario runs in a separate process. All arguments after its name are passed to it. Writes client.html and"
                    + " broker.html. Brokers that do not run on a JVM have no flame graph.",
            "Exit code: that of the scenario."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench profile live --duration 20s",
            "  journalq-bench profile --results case3 produce --case 3 --duration 20s"
        })
public final class FlightRecordingCommand implements Callable<Integer> {
    private static final String RECORD =
            "-XX:StartFlightRecording=settings=profile,dumponexit=true,filename=%s -Xlog:jfr*=error";

    @Parameters(
            index = "0",
            paramLabel = "SCENARIO",
            description = "The scenario, for example live, latency, matrix or produce.")
    private String scenario;

    @Mixin
    private ResultDirectory results;

    @Parameters(index = "1..*", paramLabel = "ARGUMENT", description = "Arguments of the scenario.")
    private List<String> arguments = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!spec.parent().subcommands().containsKey(scenario)) {
            throw BenchException.wrongUsage(
                    "'" + scenario + "' is not a scenario", "use one of the commands of journalq-bench --help");
        }
        Path recordings = Files.createTempDirectory("journalq-bench-profile-");
        try {
            int exitCode = run(recordings);
            if (exitCode == CommandLine.ExitCode.USAGE) {
                return exitCode;
            }
            Path kept = Files.createDirectories(results.file("recordings"));
            try (Stream<Path> files = Files.list(recordings)) {
                for (Path file : files.toList()) {
                    Files.copy(file, kept.resolve(file.getFileName()));
                }
            }
            if (draw(kept, results.create()) == 0) {
                throw new BenchException("there are no recordings in " + kept, "use a JDK with Flight Recorder");
            }
            return exitCode;
        } finally {
            delete(recordings);
        }
    }

    private int run(Path recordings) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        // The scenario runs with the options that it has without the recording.
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), "io.journalq.bench.cli.BenchMain", scenario));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        // Every JVM that the scenario starts reads this variable.
        builder.environment().put("JDK_JAVA_OPTIONS", RECORD.formatted(recordings));
        return builder.start().waitFor();
    }

    private static void delete(Path recordings) throws IOException {
        try (Stream<Path> files = Files.list(recordings)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(recordings);
    }

    /** Draws a page for each recording, and returns the number of pages. */
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
        }
        return files.size();
    }
}
