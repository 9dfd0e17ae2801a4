package io.journalq.bench.output;

import io.journalq.bench.measure.Machine;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** How a command presents its result. One thread. */
public final class OutputOptions {
    @Option(
            names = "--output",
            defaultValue = "table",
            paramLabel = "FORMAT",
            description = "Format of the result: table, csv or json (default: ${DEFAULT-VALUE}).")
    private Output.Format format;

    @Option(names = "--out", paramLabel = "FILE", description = "Also writes the result to this file.")
    private Path file;

    /**
     * Prints rows, with the machine and the settings that they were measured with.
     *
     * @param settings values that apply to all rows
     * @param more values that only JSON can represent
     */
    public void emit(Map<String, Object> settings, List<Map<String, Object>> rows, Map<String, Object> more) {
        Output.emit(Output.format(format, about(settings), rows, more), file);
    }

    /** As {@link #emit(Map, List, Map)}, and writes {@code results.csv} and {@code results.json}. */
    public void emit(
            Map<String, Object> settings,
            List<Map<String, Object>> rows,
            Map<String, Object> more,
            ResultDirectory results) {
        Map<String, Object> about = about(settings);
        Output.write(Output.format(Output.Format.CSV, about, rows, more), results.file("results.csv"));
        Output.write(Output.format(Output.Format.JSON, about, rows, more), results.file("results.json"));
        about.put("files", results.create().toString());
        Output.emit(Output.format(format, about, rows, more), file);
    }

    /**
     * As {@link #emit(Map, List, Map, ResultDirectory)}, but {@code results.csv} has exactly the columns of the rows. The
     * values that apply to all rows are only in the JSON file.
     */
    public void emitOnly(
            Map<String, Object> settings,
            List<Map<String, Object>> rows,
            Map<String, Object> more,
            ResultDirectory results) {
        Map<String, Object> about = about(settings);
        Output.write(Output.format(Output.Format.CSV, Map.of(), rows, more), results.file("results.csv"));
        Output.write(Output.format(Output.Format.JSON, about, rows, more), results.file("results.json"));
        boolean csv = format == Output.Format.CSV;
        Map<String, Object> shown = new LinkedHashMap<>(csv ? Map.of() : about);
        if (!csv) {
            shown.put("files", results.create().toString());
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
