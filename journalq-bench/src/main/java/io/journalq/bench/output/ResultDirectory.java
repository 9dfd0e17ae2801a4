package io.journalq.bench.output;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The directory of a command's result files. It is created for the first file, so that a command that fails before leaves
 * nothing behind. One thread.
 */
public final class ResultDirectory {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description = "Directory for the result files (default: a new directory in bench-results).")
    private Path directory;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /** The path of a file in the directory. Creates the directory. */
    public Path file(String name) {
        return create().resolve(name);
    }

    /** Creates the directory if it does not exist. */
    public Path create() {
        if (directory == null) {
            String time = LocalDateTime.now(ZoneId.systemDefault()).format(TIME);
            directory = Path.of("bench-results", command.name() + "-" + time);
        }
        try {
            return Files.createDirectories(directory);
        } catch (IOException e) {
            throw new BenchException(
                    "cannot create directory " + directory, "use --results with a writable directory", e);
        }
    }
}
