package io.journalq.bench.cli;

import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.compare.Presets;
import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaClientsDriver;
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

/** {@code journalq-bench sweep}: looks for the settings that a broker and its client are best at. */
@Command(
        name = "sweep",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Tries the settings of a broker's client one after the other and keeps the best, for each case.",
            "What it finds goes to --save FILE, for: journalq-bench compare --preset FILE"
        })
final class SweepCommand implements Callable<Integer> {
    @Option(names = "--broker", defaultValue = "kafka", description = "journalq or kafka. Default: kafka.")
    private String broker;

    @Option(names = "--cases", defaultValue = "1,2,3,4", description = "Default: 1,2,3,4.")
    private String cases;

    @Option(
            names = "--save",
            paramLabel = "FILE",
            description = "Add to the presets in this file; what it holds for other brokers and cases stays.")
    private Path file;

    @Mixin
    private ComparisonOptions work;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        List<ProduceCase> chosen = ProduceCase.parse(cases);
        PayloadPool pool = work.pool();
        Presets found;
        try (BrokerDriver driver = ProduceCasesCommand.brokerNamed(broker, settings())) {
            Side side =
                    new Side(driver, broker.equals("kafka") ? new KafkaClientsDriver() : new JournalQClientDriver());
            found = work.sweep(List.of(side), chosen, pool);
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
        output.emit(Map.of("work", work.inWords()), rows, Map.of("presets", found.all()));
        return 0;
    }

    /** As {@code compare} runs it. */
    private Map<String, String> settings() {
        return broker.equals("journalq") ? DurabilityOption.PAGE_CACHE.journalqSettings() : Map.of();
    }
}
