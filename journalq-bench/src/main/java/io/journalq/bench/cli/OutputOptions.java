package io.journalq.bench.cli;

import io.journalq.bench.measure.Machine;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** How every command shows its result. One thread. */
final class OutputOptions {
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
    void emit(Map<String, Object> settings, List<Map<String, Object>> rows, Map<String, Object> more) {
        Machine machine = Machine.here();
        Map<String, Object> about = new LinkedHashMap<>();
        about.put("machine", machine.inWords());
        about.put("commit", machine.commit());
        about.put("jdk", machine.jdk());
        about.put("measured_at", machine.measuredAt());
        about.putAll(settings);
        Output.emit(Output.format(format, about, rows, more), file);
    }
}
