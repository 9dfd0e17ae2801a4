package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.Options;
import io.journalq.bench.option.RepetitionOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import java.io.IOException;
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
import io.journalq.bench.measure.Statistics;

/** {@code journalq-bench transfer}: files of JSON documents from senders to one receiver, compared line by line. */
@Command(
        name = "transfer",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Sends files of one JSON document a line to one receiver, which writes what it gets to a file; both are"
                    + " then",
            "compared. The time is from the first line that is sent to the last that is received, reading and writing"
                    + " of",
            "files included. Brokers take turns, the others are frozen.",
            "Exits with 0 when every line came exactly once, 1 when not, 2 on a wrong command line."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench transfer --brokers journalq,kafka,jetstream",
            "  journalq-bench transfer --senders 3 --counts 1000000 --keep-files --results transfer",
            "  journalq-bench transfer --input orders.jsonl"
        })
public final class TransferCommand implements Callable<Integer> {
    private static final String TOPIC = "transfer-bench-";

    @Option(names = "--senders", split = ",", defaultValue = "1,3", description = "To one receiver. Default: 1,3.")
    private List<Integer> senders;

    @Option(
            names = "--counts",
            split = ",",
            defaultValue = "100,1000,10000,100000",
            paramLabel = "MESSAGES",
            description = "For each sender. Default: 100,1000,10000,100000.")
    private List<Long> counts;

    @Option(
            names = "--message-size",
            defaultValue = "256",
            paramLabel = "BYTES",
            description = "Of the documents that are made. Default: 256.")
    private int sizeBytes;

    @Option(
            names = "--input",
            paramLabel = "FILE",
            description = "Every sender sends this file, instead of files that are made.")
    private Path input;

    @Option(names = "--batch", defaultValue = "100", paramLabel = "MESSAGES", description = "Default: 100.")
    private int batchSize;

    @Option(names = "--delivery", defaultValue = "at-least-once", description = Delivery.WORDS + ".")
    private Delivery delivery;

    @Option(names = "--partitions", defaultValue = "16", description = "Of each topic. Default: 16.")
    private int partitions;

    @Option(names = "--keep-files", description = "Keep what was sent and received.")
    private boolean keepFiles;

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description = "For results.csv, results.json and the files. Default: a new directory in bench-results.")
    private Path results;

    @Mixin
    private RepetitionOptions turns;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();
    private Path directory;

    @Override
    public Integer call() throws InterruptedException {
        senders.forEach(count -> Options.requirePositive("--senders", count));
        counts.forEach(count -> Options.requirePositive("--counts", count));
        Options.requirePositive("--batch", batchSize);
        Options.requirePositive("--message-size", sizeBytes);
        Options.requirePositive("--partitions", partitions);
        directory = ResultDirectory.open(results, "transfer");
        try (BrokerTurns contenders =
                BrokerTurns.start(turns.brokers(), delivery, brokers).required()) {
            for (long count : input == null ? counts : List.of(lines(input))) {
                for (int senderCount : senders) {
                    List<Path> files = files(senderCount, count);
                    for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                        contenders.eachInTurn(driver -> transfer(driver, files, count));
                    }
                    remove(input == null ? files : List.of());
                }
            }
            Map<String, Object> about = contenders.about();
            about.put("batch", batchSize);
            about.put("partitions", partitions);
            about.put("message_size_bytes", input == null ? sizeBytes : "as in " + input);
            about.put("delivery", delivery.toString());
            output.emit(about, rows, Map.of(), directory);
        }
        return rows.stream().allMatch(row -> row.get("success").equals("yes")) ? 0 : 1;
    }

    private static long lines(Path file) {
        return JsonLines.hashes(file).length;
    }

    private List<Path> files(int senderCount, long count) {
        List<Path> files = new ArrayList<>();
        for (int sender = 0; sender < senderCount; sender++) {
            Path file = input == null ? directory.resolve("sent-%d-%d.jsonl".formatted(count, sender)) : input;
            if (input == null) {
                JsonLines.write(file, sender, count, sizeBytes);
            }
            files.add(file);
        }
        return files;
    }

    private void transfer(PubSubDriver driver, List<Path> files, long count) throws InterruptedException {
        String topic = TOPIC + System.nanoTime();
        driver.createTopic(topic, partitions);
        Path received = directory.resolve("received-%s-%d-%d.jsonl".formatted(driver.name(), files.size(), count));
        long expected = count * files.size();
        try {
            TransferRun.Result result =
                    new TransferRun(driver, topic, batchSize).run(files, expected, received, brokers.pid(driver));
            rows.add(row(driver.name(), files.size(), count, expected, result));
        } finally {
            driver.deleteTopic(topic);
            remove(List.of(received));
        }
    }

    private static Map<String, Object> row(
            String broker, int senderCount, long count, long expected, TransferRun.Result result) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker);
        row.put("senders_to_receivers", senderCount + "-1");
        row.put("messages_per_sender", count);
        boolean success = result.difference().isNone() && result.firstError() == null;
        row.put("success", success ? "yes" : "no");
        row.put("time_s", Statistics.thousandths(result.seconds()));
        row.put("throughput_mps", Math.round(result.received() / Math.max(1e-3, result.seconds())));
        long wrong = Math.max(
                result.failed(),
                result.difference().missing() + result.difference().extra());
        row.put("error_rate_percent", Statistics.hundredths(100.0 * wrong / expected));
        row.put("missing", result.difference().missing());
        row.put("extra", result.difference().extra());
        row.put("cpu_percent", Statistics.tenths(100 * result.use().brokerCores()));
        row.put("memory_bytes", result.use().brokerMaxResidentBytes());
        row.put("first_error", result.firstError());
        return row;
    }

    private void remove(List<Path> files) {
        if (keepFiles) {
            return;
        }
        for (Path file : files) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                throw new BenchException("cannot remove " + file, "remove it by hand", e);
            }
        }
    }
}
