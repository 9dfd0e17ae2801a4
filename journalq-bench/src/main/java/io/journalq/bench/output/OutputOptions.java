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

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description =
                    "Also writes the result to this file: all values as JSON if its name ends in .json, as CSV if it ends"
                            + " in .csv, otherwise what is printed.")
    private Path file;

    /**
     * Prints rows, with the machine and the settings that they were measured with.
     *
     * @param settings values that apply to all rows
     * @param more values that only JSON can represent
     */
    public void emit(Map<String, Object> settings, List<Map<String, Object>> rows, Map<String, Object> more) {
        Map<String, Object> about = about(settings);
        emit(about, rows, more, Output.format(Output.Format.TABLE, about, rows, more));
    }

    /** As {@link #emit(Map, List, Map)}, with a short table for people, and a line that says where all values are. */
    public void emitSummary(Map<String, Object> settings, List<Map<String, Object>> rows, String summary) {
        boolean complete = file != null && formatOf(file) != Output.Format.TABLE;
        String where = complete ? file.toString() : "add --output json, or --out FILE.json";
        emit(about(settings), rows, Map.of(), summary + "All values: " + where + "\n");
    }

    private void emit(
            Map<String, Object> about, List<Map<String, Object>> rows, Map<String, Object> more, String table) {
        System.out.print(format == Output.Format.TABLE ? table : Output.format(format, about, rows, more));
        System.out.flush();
        if (file != null) {
            Output.Format written = formatOf(file);
            Output.write(written == Output.Format.TABLE ? table : Output.format(written, about, rows, more), file);
        }
    }

    private Output.Format formatOf(Path written) {
        String name = written.toString();
        if (name.endsWith(".json")) {
            return Output.Format.JSON;
        }
        return name.endsWith(".csv") ? Output.Format.CSV : format;
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
        emit(about, rows, more, Output.format(Output.Format.TABLE, about, rows, more));
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
        emit(shown, rows, more, Output.listing(rows) + Output.format(Output.Format.TABLE, shown, List.of(), Map.of()));
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
