package io.journalq.bench.output;

import io.journalq.bench.measure.Machine;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** How every command shows its result. One thread. */
public final class OutputOptions {
    @Option(names = "--output", defaultValue = "table", description = "table, csv or json. Default: table.")
    private Output.Format format;

    @Option(names = "--out", paramLabel = "FILE", description = "Write the result to this file too.")
    private Path file;

    /**
     * Prints rows with where and with what they were measured.
     *
     * @param settings what holds for all rows
     * @param more what only JSON has room for
     */
    public void emit(Map<String, Object> settings, List<Map<String, Object>> rows, Map<String, Object> more) {
        Output.emit(Output.format(format, about(settings), rows, more), file);
    }

    /** The same, besides {@code results.csv} and {@code results.json} in {@code directory}. */
    public void emit(
            Map<String, Object> settings, List<Map<String, Object>> rows, Map<String, Object> more, Path directory) {
        Map<String, Object> about = about(settings);
        Output.write(Output.format(Output.Format.CSV, about, rows, more), directory.resolve("results.csv"));
        Output.write(Output.format(Output.Format.JSON, about, rows, more), directory.resolve("results.json"));
        about.put("files", directory.toString());
        Output.emit(Output.format(format, about, rows, more), file);
    }

    /** The same, but the rows of {@code results.csv} are these and no more; what holds for all is in the JSON file. */
    public void emitOnly(
            Map<String, Object> settings, List<Map<String, Object>> rows, Map<String, Object> more, Path directory) {
        Map<String, Object> about = about(settings);
        Output.write(Output.format(Output.Format.CSV, Map.of(), rows, more), directory.resolve("results.csv"));
        Output.write(Output.format(Output.Format.JSON, about, rows, more), directory.resolve("results.json"));
        boolean csv = format == Output.Format.CSV;
        Map<String, Object> shown = new LinkedHashMap<>(csv ? Map.of() : about);
        if (!csv) {
            shown.put("files", directory.toString());
        }
        Output.emit(
                format == Output.Format.TABLE
                        ? Output.listing(rows) + Output.format(format, shown, List.of(), Map.of())
                        : Output.format(format, shown, rows, more),
                file);
    }

    /** Machine, commit, JDK and time, then {@code settings}. */
    public static Map<String, Object> about(Map<String, Object> settings) {
        Machine machine = Machine.here();
        Map<String, Object> about = new LinkedHashMap<>();
        about.put("machine", machine.inWords());
        about.put("commit", machine.commit());
        about.put("jdk", machine.jdk());
        about.put("measured_at", machine.measuredAt());
        about.putAll(settings);
        return about;
    }
}
