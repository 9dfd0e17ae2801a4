package io.journalq.chaos;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Kills a broker again and again while clients work, and reads back what was acknowledged. */
@Command(
        name = "journalq-chaos",
        mixinStandardHelpOptions = true,
        subcommands = {SoakCommand.class, HostileCommand.class},
        description = "Kills and freezes a real broker under load, and checks every acknowledged message.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:nothing was lost, doubled or damaged", "1:something was, and is printed"})
public final class ChaosMain implements Callable<Integer> {
    private static final String BROKER_HEAP = "256m";
    /** It lives for seconds. */
    private static final List<String> BROKER_OPTIONS = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    /** The write interval, and what an overloaded machine may add to it. */
    private static final long LOSS_BOUND_MS = 1_000;

    private static final int PARTITIONS = 2;
    private static final List<String> TRANSACTIONAL_TOPICS = List.of("chaos-transactions-1", "chaos-transactions-2");
    private static final int LONGEST_LIFE_MS = 1_500;
    private static final int SHORTEST_LIFE_MS = 50;
    private static final int LONGEST_FREEZE_MS = 800;
    private static final int FREEZE_ODDS = 4;
    private static final int MOST_AWAITED_MESSAGES = 300;
    private static final long LONGEST_WAIT_MS = 20_000;

    @Option(names = "--cycles", defaultValue = "20", description = "How often the broker is killed (default: 20).")
    private int cycles;

    @Option(names = "--minutes", description = "Stop after so many minutes, whatever is left.")
    private Double minutes;

    @Option(
            names = "--seed",
            description = "Decides when what is done to the broker; what clients do meanwhile is theirs.")
    private Long seed;

    @Option(
            names = "--mode",
            defaultValue = "eventual",
            description = "Delivery mode of all topics: eventual, consistent or performance (default: eventual).")
    private String mode;

    @Option(
            names = "--check-every",
            defaultValue = "25",
            description = "Read all back after so many kills (default: 25).")
    private int checkEvery;

    @Option(
            names = "--pause-ms",
            defaultValue = "2",
            description = "How long each producer waits between two messages (default: 2).")
    private int pauseMs;

    @Option(names = "--keep", description = "Keep the folder with data and log even when all is well.")
    private boolean keep;

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** The program as it is typed: its options and help. */
    public static CommandLine commandLine() {
        return new CommandLine(new ChaosMain());
    }

    @Override
    public Integer call() throws Exception {
        long itsSeed = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        Path folder = Files.createTempDirectory("journalq-chaos");
        System.out.printf(Locale.ROOT, "seed %d, %d cycles, mode %s, folder %s%n", itsSeed, cycles, mode, folder);
        Losses losses = mode.equals("performance") ? new Losses(LOSS_BOUND_MS) : null;
        Ledger ledger = new Ledger(losses);
        List<String> settings = List.of("delivery.mode=" + mode, "segment.bytes=1048576", "shards=2");
        try (BrokerProcess broker =
                new BrokerProcess(folder, BrokerProcess.freePort(), BROKER_HEAP, BROKER_OPTIONS, settings)) {
            broker.start();
            broker.onEnding(() -> {
                if (losses != null) {
                    losses.onEnding();
                }
            });
            torture(broker, ledger, new Random(itsSeed));
        }
        if (losses != null) {
            System.out.println(losses);
        }
        ledger.findings().forEach(finding -> System.out.println("FINDING " + finding));
        if (ledger.findings().isEmpty() && !keep) {
            delete(folder);
        }
        return ledger.findings().isEmpty() ? 0 : 1;
    }

    private void torture(BrokerProcess broker, Ledger ledger, Random random) throws Exception {
        List<String> topics = new ArrayList<>();
        List<TopicPartition> partitions = new ArrayList<>();
        for (CompressionCodec codec : CompressionCodec.values()) {
            topics.add("chaos-" + codec.name().toLowerCase(Locale.ROOT));
        }
        topics.forEach(topic -> addPartitions(topic, partitions));
        List<TopicPartition> transactional = new ArrayList<>();
        TRANSACTIONAL_TOPICS.forEach(topic -> addPartitions(topic, transactional));
        try (Admin admin = Admin.builder().bootstrapServers(broker.address()).build()) {
            Stream.concat(topics.stream(), TRANSACTIONAL_TOPICS.stream())
                    .forEach(topic -> admin.createTopic(NewTopic.of(topic, PARTITIONS)));
        }
        TransactionLedger outcomes = new TransactionLedger(ledger);
        Transactions transactions = new Transactions(outcomes, transactional);
        Reading reading = settled -> {
            Clients.readEverything(ledger, broker.address(), partitions);
            transactions.readCommitted(broker.address(), settled);
        };
        int kills;
        long consumed;
        try (Load load = new Load(ledger, broker.address(), pauseMs)) {
            begin(load, topics, transactions);
            kills = killAgainAndAgain(broker, ledger, reading, random);
            consumed = load.consumedCount();
        }
        reading.run(true);
        System.out.printf(
                Locale.ROOT,
                "%d kills, %d messages acknowledged, %d read back, %d given to groups;"
                        + " %d transactions committed, %d aborted; %d findings%n",
                kills,
                ledger.acknowledgedCount(),
                ledger.foundCount(),
                consumed,
                outcomes.committedCount(),
                outcomes.abortedCount(),
                ledger.findings().size());
    }

    private static void addPartitions(String topic, List<TopicPartition> partitions) {
        for (int i = 0; i < PARTITIONS; i++) {
            partitions.add(new TopicPartition(topic, i));
        }
    }

    /** Reads everything back and compares it. */
    private interface Reading {
        /** With {@code settled}, nobody is writing any more. */
        void run(boolean settled);
    }

    private static void begin(Load load, List<String> topics, Transactions transactions) {
        CompressionCodec[] codecs = CompressionCodec.values();
        for (int i = 0; i < codecs.length; i++) {
            String topic = topics.get(i);
            Clients.produceWithKafka(
                    load, 2 * i, topic, PARTITIONS, codecs[i].name().toLowerCase(Locale.ROOT));
            Clients.produceWithJournalQ(load, 2 * i + 1, topic, PARTITIONS, codecs[i]);
        }
        int next = 2 * codecs.length;
        transactions.writeWithJournalQ(load, next++, CompressionCodec.LZ4);
        transactions.writeWithJournalQ(load, next++, CompressionCodec.NONE);
        transactions.writeWithKafka(load, next++, CompressionCodec.ZSTD);
        transactions.writeWithKafka(load, next, CompressionCodec.GZIP);
        Clients.consumeWithKafka(load, "classic-group", "classic", "read_uncommitted", topics);
        Clients.consumeWithKafka(load, "consumer-group", "consumer", "read_committed", TRANSACTIONAL_TOPICS);
        Clients.consumeWithJournalQ(load, "journalq-group", Consumer.Isolation.READ_UNCOMMITTED, topics);
    }

    private int killAgainAndAgain(BrokerProcess broker, Ledger ledger, Reading reading, Random random)
            throws Exception {
        long endNanos =
                minutes == null ? Long.MAX_VALUE : System.nanoTime() + (long) (minutes * TimeUnit.MINUTES.toNanos(1));
        int kills = 0;
        while (kills < cycles
                && System.nanoTime() < endNanos
                && ledger.findings().isEmpty()) {
            Thread.sleep(SHORTEST_LIFE_MS + random.nextInt(LONGEST_LIFE_MS));
            awaitProgress(ledger, random.nextInt(MOST_AWAITED_MESSAGES));
            if (random.nextInt(FREEZE_ODDS) == 0) {
                broker.freeze();
                Thread.sleep(random.nextInt(LONGEST_FREEZE_MS));
                if (random.nextBoolean()) {
                    broker.thaw();
                    Thread.sleep(random.nextInt(LONGEST_LIFE_MS));
                }
            }
            if (!broker.isAlive()) {
                ledger.report("the broker has ended by itself");
            }
            broker.kill();
            kills++;
            broker.start();
            if (kills % checkEvery == 0) {
                reading.run(false);
                System.out.printf(
                        Locale.ROOT,
                        "%d kills, %d messages acknowledged, %d read back%n",
                        kills,
                        ledger.acknowledgedCount(),
                        ledger.foundCount());
            }
        }
        return kills;
    }

    /** On a machine that is busy with other things no client might get anywhere in so short a life. */
    private static void awaitProgress(Ledger ledger, int messages) throws InterruptedException {
        long wanted = ledger.acknowledgedCount() + messages;
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_WAIT_MS);
        while (ledger.acknowledgedCount() < wanted && System.nanoTime() < endNanos) {
            Thread.sleep(1);
        }
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
