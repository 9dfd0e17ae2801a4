package io.journalq.bench.cli;

import io.journalq.bench.compare.Presets;
import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.SpawnedBroker;
import io.journalq.bench.option.EncryptionOption;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceCase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench sweep}: searches for the best settings of a broker's client. */
@Command(
        name = "sweep",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Searches for the best settings of a broker's client, for each produce case.",
            "Varies one setting after the other and keeps the best value. With --save FILE, the result can be used by"
                    + " journalq-bench compare --preset FILE.",
            "Exit code: 0 on success, 1 if a broker failed, 2 if the command line is wrong."
        })
final class SweepCommand implements Callable<Integer> {
    @Option(
            names = "--broker",
            defaultValue = "kafka",
            paramLabel = "NAME",
            description = "The broker to start: journalq or kafka (default: ${DEFAULT-VALUE}).")
    private BrokerChoice broker;

    @Option(
            names = "--cases",
            defaultValue = "1,2,3,4",
            paramLabel = "CASES",
            description = "Cases, separated by commas (default: ${DEFAULT-VALUE}).")
    private WorkloadOptions.Cases cases;

    @Option(
            names = "--save",
            paramLabel = "FILE",
            description = "Adds the result to the presets in this file. Presets of other brokers and cases are kept.")
    private Path file;

    @Mixin
    private ComparisonOptions work;

    @Mixin
    private EncryptionOption encryption;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        List<ProduceCase> chosen = cases.required("--cases");
        PayloadPool pool = work.pool();
        Presets found;
        try (SpawnedBroker driver = encryption.apply(broker.open(settings()))) {
            found = work.sweep(List.of(new Side(driver, broker::ownClient)), chosen, pool);
        }
        if (file != null) {
            Presets earlier = Files.exists(file) ? Presets.read(file) : new Presets(List.of());
            earlier.with(found.all()).write(file);
        }
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Preset preset : found.all()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", preset.broker());
            row.put("case", preset.benchCase());
            row.put("best", preset.tuning().inWords(preset.benchCase() > 2));
            row.put("qps", preset.score());
            row.put("tried", preset.trials().size());
            rows.add(row);
        }
        output.emit(
                Map.of("work", work.inWords() + ", connections " + encryption.inWords()),
                rows,
                Map.of("presets", found.all()));
        return 0;
    }

    /** The settings with which {@code compare} runs the broker. */
    private Map<String, String> settings() {
        return broker == BrokerChoice.JOURNALQ ? DurabilityOption.PAGE_CACHE.journalqSettings() : Map.of();
    }
}
