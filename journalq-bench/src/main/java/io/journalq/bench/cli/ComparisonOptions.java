package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.compare.Comparison;
import io.journalq.bench.compare.Presets.Preset;
import io.journalq.bench.compare.Presets;
import io.journalq.bench.compare.Side;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.PayloadSource;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.Tuning;
import io.journalq.bench.produce.ProduceSettings.Workload;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** What {@code compare} and {@code sweep} have in common: the work, and the callers that do it. One thread. */
final class ComparisonOptions {
    private static final int VIRTUAL_SINCE = 21;
    private static final int MESSAGE_SIZE_BYTES = 1024;

    @Option(names = "--duration", defaultValue = "10s", description = "Measured time of each run. Default: 10s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "5s", description = "Before each. Default: 5s.")
    private Duration warmup;

    @Option(names = "--partitions", defaultValue = "200", description = "Default: 200.")
    private int partitions;

    @Option(names = "--payload", defaultValue = "text", description = PayloadSource.KINDS + ". Default: text.")
    private String payload;

    @Option(names = "--batch", defaultValue = "100", description = "Messages of a batch, cases 3, 4. Default: 100.")
    private int batchSize;

    @Option(names = "--groups", defaultValue = "0", description = ProduceCasesCommand.GROUPS_WORDS)
    private int groups;

    @Option(
            names = "--callers",
            defaultValue = "best",
            description = "Threads of cases 1 and 2: best (for each the faster kind), platform or virtual."
                    + " Default: best.")
    private String callers;

    @Option(
            names = "--threads",
            description = "As many callers for both in cases 1 and 2, in place of what is best for each.")
    private Integer threads;

    @Option(
            names = "--preset",
            paramLabel = "FILE",
            description = "Settings that a sweep found. Default: those found on two cores, shipped.")
    private Path presetFile;

    PayloadPool pool() {
        ProduceCasesCommand.requirePositive("--partitions", partitions);
        ProduceCasesCommand.requirePositive("--batch", batchSize);
        ProduceCasesCommand.requireGroups(groups, ProduceCasesCommand.DEFAULT_CONSUMERS);
        if (threads != null) {
            ProduceCasesCommand.requirePositive("--threads", threads);
        }
        if (!List.of("best", "platform", "virtual").contains(callers)) {
            throw new BenchException("there are no '" + callers + "' threads", "use best, platform or virtual");
        }
        return PayloadPool.build(payload, MESSAGE_SIZE_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
    }

    Comparison comparison(PayloadPool pool) {
        return new Comparison(
                new Workload(
                        "",
                        partitions,
                        MESSAGE_SIZE_BYTES,
                        payload,
                        batchSize,
                        ProduceCasesCommand.DEFAULT_CONSUMERS,
                        groups),
                pool,
                warmup,
                duration);
    }

    BrokerLoad.Result load(Side side, PayloadPool pool) throws IOException {
        return side.load(partitions, pool, warmup, duration);
    }

    Presets presets() {
        return presetFile == null ? Presets.shipped() : Presets.read(presetFile);
    }

    /** What a side is to run a case with. */
    Tuning tuning(Presets presets, Side side, ProduceCase produceCase) {
        Tuning best = presets.best(side.name(), produceCase, this::allows).tuning();
        return threads == null || produceCase.batched() ? best : best.with(Tuning.THREADS, threads.toString());
    }

    /** Whether this JDK has, and the user wants, this kind of callers. Batches are built by platform threads. */
    private boolean allows(Preset preset) {
        return preset.benchCase() > 2 || kinds().contains(preset.tuning().virtualThreads());
    }

    /** Looks for the best settings of every side and case. */
    Presets sweep(List<Side> sides, List<ProduceCase> cases, PayloadPool pool) throws InterruptedException {
        List<Preset> found = new ArrayList<>();
        for (Side side : sides) {
            for (ProduceCase one : cases) {
                for (boolean virtualThreads : one.batched() ? List.of(false) : kinds()) {
                    found.add(comparison(pool).sweep(one, side, virtualThreads));
                }
            }
        }
        return new Presets(found);
    }

    private List<Boolean> kinds() {
        boolean canVirtual = Runtime.version().feature() >= VIRTUAL_SINCE;
        return switch (callers) {
            case "platform" -> List.of(false);
            case "virtual" -> List.of(true);
            default -> canVirtual ? List.of(false, true) : List.of(false);
        };
    }

    String inWords() {
        String readers = groups == 0 ? "by assignment" : groups == 1 ? "in one group" : "in " + groups + " groups";
        return "%d partitions, messages of %d B %s, batches of %d, readers %s, warm-up %.1f s, measured %.1f s"
                .formatted(
                        partitions,
                        MESSAGE_SIZE_BYTES,
                        payload,
                        batchSize,
                        readers,
                        warmup.toMillis() / 1e3,
                        duration.toMillis() / 1e3);
    }
}
