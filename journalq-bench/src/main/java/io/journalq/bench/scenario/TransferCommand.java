package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.RepetitionOptions;
import io.journalq.bench.option.TopicOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.common.commandline.SizeOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench transfer}: files of JSON documents from senders to one receiver, compared line by line. */
@Command(
        name = "transfer",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Sends files of JSON documents to one receiver, and compares what was sent and received.",
            "Each line of a file is one document. The receiver writes the documents that it receives to a file. The time"
                    + " is that from the first line sent to the last line received, including reading and writing the"
                    + " files. The brokers take turns; while one is measured, the others are frozen.",
            "With --sealed, each run is repeated with messages that the broker cannot read: sealed in batches (JQE1),"
                    + " sealed in batches that the sender signs, and encrypted one by one with AES-256-GCM under a key of"
                    + " their own, which RSA-2048 encrypts.",
            "Exit code: 0 if every line was received exactly once, 1 if not, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench transfer --brokers journalq,kafka,jetstream",
            "  journalq-bench transfer --senders 3 --counts 1000000 --keep-files",
            "  journalq-bench transfer --input orders.jsonl",
            "  journalq-bench transfer --sealed --message-size 537 --counts 100000",
            "  journalq-bench transfer --sealed --protections none,jqe1,jqe1-signed"
        })
public final class TransferCommand implements Callable<Integer> {
    private static final String TOPIC = "transfer-bench-";

    @Option(
            names = "--senders",
            split = ",",
            defaultValue = "1,3",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Numbers of senders (default: ${DEFAULT-VALUE}).")
    private List<Integer> senders;

    @Option(
            names = "--counts",
            split = ",",
            defaultValue = "100,1000,10000,100000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages that each sender sends (default: ${DEFAULT-VALUE}).")
    private List<Long> counts;

    @Option(
            names = "--message-size",
            defaultValue = "256",
            paramLabel = "SIZE",
            converter = SizeOption.InMemory.class,
            description = "Size of a generated document (default: ${DEFAULT-VALUE}).")
    private int sizeBytes;

    @Option(
            names = "--input",
            paramLabel = "FILE",
            description = "File that every sender sends, instead of generated files.")
    private Path input;

    @Option(
            names = "--batch",
            defaultValue = "100",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveInt.class,
            description = "Messages in a batch (default: ${DEFAULT-VALUE}).")
    private int batchSize;

    @Option(
            names = "--sealed",
            description = "Also measures messages that the broker cannot read. Needs --brokers journalq.")
    private boolean sealed;

    /** Null unless given. */
    @Option(
            names = "--protections",
            split = ",",
            paramLabel = "NAME",
            description = "What --sealed measures: ${COMPLETION-CANDIDATES} (default: all).")
    private List<MessageProtection> protections;

    @Option(names = "--keep-files", description = "Keeps the files that were sent and received.")
    private boolean keepFiles;

    @Mixin
    private TopicOptions topic;

    @Mixin
    private RepetitionOptions turns;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private ResultDirectory results;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();
    /** Drivers whose clients seal, by what they do and by those whose clients do not. */
    private final Map<MessageProtection, Map<PubSubDriver, PubSubDriver>> sealing = new HashMap<>();

    private KeyPair receiverKey;

    @Override
    public Integer call() throws InterruptedException {
        List<MessageProtection> measuredProtections = protections();
        receiverKey = sealed ? receiverKey() : null;
        List<Long> chosen = input == null ? counts : List.of(lines(input));
        try (BrokerTurns measured =
                BrokerTurns.start(turns.brokers(), topic.delivery(), brokers).required()) {
            for (long count : chosen) {
                for (int senderCount : senders) {
                    List<Path> files = files(senderCount, count);
                    for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                        measured.eachInTurn(driver -> {
                            for (MessageProtection protection : measuredProtections) {
                                transfer(driver, protection, files, count);
                            }
                        });
                    }
                    remove(input == null ? files : List.of());
                }
            }
            Map<String, Object> about = measured.about();
            about.put("batch", batchSize);
            about.put("partitions", topic.partitions());
            about.put("message_size_bytes", input == null ? sizeBytes : "as in " + input);
            about.put("delivery", topic.delivery().toString());
            output.emit(about, rows, Map.of(), results);
        } finally {
            sealing.values().forEach(drivers -> drivers.values().forEach(PubSubDriver::close));
        }
        return rows.stream().allMatch(row -> row.get("success").equals("yes")) ? 0 : 1;
    }

    private List<MessageProtection> protections() {
        if (!sealed) {
            if (protections != null) {
                throw BenchException.wrongUsage("--protections says what --sealed measures", "add --sealed");
            }
            return List.of(MessageProtection.NONE);
        }
        return protections == null ? List.of(MessageProtection.values()) : protections;
    }

    private static long lines(Path file) {
        return JsonLines.hashes(file).length;
    }

    private List<Path> files(int senderCount, long count) {
        List<Path> files = new ArrayList<>();
        for (int sender = 0; sender < senderCount; sender++) {
            Path file = input == null ? results.file("sent-%d-%d.jsonl".formatted(count, sender)) : input;
            if (input == null) {
                JsonLines.write(file, sender, count, sizeBytes);
            }
            files.add(file);
        }
        return files;
    }

    private static KeyPair receiverKey() {
        try {
            return MessageProtection.PerMessage.newReceiver();
        } catch (GeneralSecurityException missing) {
            throw new BenchException("this Java has no RSA", "use another one", missing);
        }
    }

    private void transfer(PubSubDriver plain, MessageProtection protection, List<Path> files, long count)
            throws InterruptedException {
        PubSubDriver driver = driver(plain, protection);
        String name = TOPIC + System.nanoTime();
        driver.createTopic(name, topic.partitions());
        Path received = results.file("received-%s-%d-%d.jsonl".formatted(driver.name(), files.size(), count));
        long expected = count * files.size();
        try {
            TransferRun run = new TransferRun(
                    driver,
                    name,
                    batchSize,
                    protection == MessageProtection.RSA_PER_MESSAGE ? receiverKey : null,
                    TransferRun.SILENCE);
            TransferRun.Result result = run.run(files, expected, received, brokers.nodes(plain));
            Map<String, Object> row = row(driver.name(), files.size(), count, expected, result);
            if (sealed) {
                row.put("protection", protection.toString());
                row.put(
                        "client_cpu_percent",
                        Statistics.tenths(100 * result.use().clientCores()));
            }
            rows.add(row);
        } finally {
            driver.deleteTopic(name);
            remove(List.of(received));
        }
    }

    private PubSubDriver driver(PubSubDriver plain, MessageProtection protection) {
        boolean signed = protection == MessageProtection.JQE1_SIGNED;
        if (protection != MessageProtection.JQE1 && !signed) {
            return plain;
        }
        return sealing.computeIfAbsent(protection, first -> new HashMap<>())
                .computeIfAbsent(plain, driver -> driver.sealed(signed));
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
