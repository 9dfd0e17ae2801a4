package io.journalq.chaos;

import io.journalq.chaos.load.ClientThreads;
import io.journalq.chaos.load.Ledger;
import io.journalq.chaos.load.LoadClients;
import io.journalq.chaos.load.Losses;
import io.journalq.chaos.load.TransactionLedger;
import io.journalq.chaos.load.TransactionalClients;
import io.journalq.client.Acks;
import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.ProgramVersion;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Injects faults into a broker process while clients work, and reads back what was acknowledged. */
@Command(
        name = "journalq-chaos",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        subcommands = {ClusterCommand.class, FailoverCommand.class, SoakCommand.class, HostileCommand.class},
        description = {
            "Injects faults into a broker process under load, and checks every acknowledged message.",
            "Each cycle injects one fault, kills the broker with SIGKILL and starts it again."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:no guarantee was broken",
            "1:a guarantee was broken: the findings are printed, the data and the log are kept",
            "2:wrong usage"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq-chaos --cycles 500 --seed 1",
            "  journalq-chaos --cycles 100 --faults kill,damage --mode consistent"
        })
public final class ChaosMain implements Callable<Integer> {
    private static final String BROKER_HEAP = "256m";
    /** The broker lives for seconds, which favors a fast start. */
    private static final List<String> BROKER_OPTIONS = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    /** The write interval, plus the delay that an overloaded machine may add. */
    private static final long LOSS_BOUND_MS = 1_000;

    private static final int PARTITIONS = 2;
    private static final List<String> TRANSACTIONAL_TOPICS = List.of("chaos-transactions-1", "chaos-transactions-2");
    private static final int LONGEST_LIFE_MS = 1_500;
    private static final int SHORTEST_LIFE_MS = 50;
    private static final int MOST_AWAITED_MESSAGES = 300;
    private static final long LONGEST_WAIT_MS = 20_000;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--cycles",
            paramLabel = "COUNT",
            defaultValue = "20",
            description = "Number of cycles (default: 20).")
    private int cycles;

    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Stop after this time, such as 30m, even if cycles are left.")
    private Duration duration;

    @Option(
            names = "--seed",
            paramLabel = "SEED",
            description = "Seed of the faults and of their times. It does not determine what the clients do.")
    private Long seed;

    @Option(
            names = "--faults",
            split = ",",
            defaultValue = "kill,freeze,damage,directory,flood",
            paramLabel = "FAULT",
            description = {
                "Faults to choose from at random, separated by commas (default: all).",
                "kill: only the kill.",
                "freeze: sends SIGSTOP before the kill.",
                "damage: flips one bit in a file of the killed broker. In a partition, only the damaged batch may be"
                        + " lost, and the log of the broker or 'journal verify' must name it. If the metadata log is"
                        + " damaged, the broker must refuse to start and report the position and how to repair it. The"
                        + " bit is then restored.",
                "directory: moves the data directory or its identity file away from the running broker, which must stop"
                        + " acknowledging and report it on /health. Or moves the metadata directory away from the killed"
                        + " broker, which must refuse to start. Everything is moved back, and nothing may be lost.",
                "flood: for 10 s, sends one of the following beside the load: names of new topics, members of 1 MB in new"
                        + " groups, eight concurrent requests of 60 MiB, or fetches of 10,000 partitions. The broker and"
                        + " the load must continue."
            })
    private List<InjectedFault> faults;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            defaultValue = "eventual",
            description = "Delivery mode of all topics: eventual, consistent or performance (default: eventual).")
    private String mode;

    @Option(
            names = "--check-every",
            paramLabel = "CYCLES",
            defaultValue = "25",
            description = "Number of cycles after which everything is read back (default: 25).")
    private int checkEvery;

    @Option(
            names = "--pause",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            defaultValue = "2ms",
            description = "Pause of each producer between two messages (default: 2ms).")
    private Duration pause;

    @Option(names = "--keep", description = "Keep the directory with the data and the log even if there is no finding.")
    private boolean keep;

    public static void main(String[] arguments) {
        System.exit(commandLine().setUsageHelpAutoWidth(true).execute(arguments));
    }

    /** The command line with its options and help. */
    public static CommandLine commandLine() {
        return new CommandLine(new ChaosMain())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(ChaosMain::explainUsage);
    }

    @Command(
            name = "completion",
            mixinStandardHelpOptions = true,
            versionProvider = ProgramVersion.class,
            description = "Prints a script that completes commands and options in bash and zsh.")
    int completion() {
        spec.commandLine().getOut().println(AutoComplete.bash(spec.name(), spec.commandLine()));
        return CommandLine.ExitCode.OK;
    }

    private static int explainUsage(ParameterException wrong, String... arguments) {
        CommandLine command = wrong.getCommandLine();
        String reason = wrong.getMessage().lines().findFirst().orElse("");
        command.getErr()
                .println("journalq-chaos: " + reason + "; see '"
                        + command.getCommandSpec().qualifiedName() + " --help'");
        return CommandLine.ExitCode.USAGE;
    }

    /** Refuses a value before anything is created. */
    static void requirePositive(CommandSpec spec, String option, double value) {
        if (!(value > 0)) {
            throw new ParameterException(spec.commandLine(), option + " must be more than 0");
        }
    }

    /** Refuses an unknown delivery mode before anything is created. */
    static void requireMode(CommandSpec spec, String mode) {
        try {
            TopicConfig.check(TopicSettings.DELIVERY_MODE.name(), mode);
        } catch (ConfigException wrong) {
            throw new ParameterException(spec.commandLine(), wrong.getMessage());
        }
    }

    @Override
    public Integer call() throws Exception {
        requirePositive(spec, "--cycles", cycles);
        requirePositive(spec, "--check-every", checkEvery);
        if (faults.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--faults must name at least one");
        }
        requireMode(spec, mode);
        long runSeed = seed != null ? seed : ThreadLocalRandom.current().nextLong(1L << 40);
        Path directory = Files.createTempDirectory("journalq-chaos");
        System.out.printf(
                Locale.ROOT,
                "seed %d, %d cycles, mode %s, faults %s, directory %s%n",
                runSeed,
                cycles,
                mode,
                faults,
                directory);
        Losses losses = mode.equals("performance") ? new Losses(LOSS_BOUND_MS) : null;
        Ledger ledger = new Ledger(losses);
        int port = LoopbackPorts.next();
        int adminPort = LoopbackPorts.next();
        List<String> settings = List.of(
                "delivery.mode=" + mode, "segment.bytes=1048576", "shards=2", "admin.listener=127.0.0.1:" + adminPort);
        try (BrokerUnderTest broker = new BrokerUnderTest(directory, port, BROKER_HEAP, BROKER_OPTIONS, settings)) {
            broker.start();
            broker.onEnding(() -> {
                if (losses != null) {
                    losses.onEnding();
                }
            });
            // Otherwise, a reading that fails would hide what was found before.
            ledger.attempt("the run", () -> run(broker, port, new HealthPage(adminPort), ledger, new Random(runSeed)));
        }
        if (losses != null) {
            System.out.println(losses);
        }
        ledger.findings().forEach(finding -> System.out.println("FINDING " + finding));
        if (ledger.findings().isEmpty() && !keep) {
            delete(directory);
        }
        return ledger.findings().isEmpty() ? 0 : 1;
    }

    private void run(BrokerUnderTest broker, int port, HealthPage health, Ledger ledger, Random random)
            throws Exception {
        List<String> topics = new ArrayList<>();
        List<TopicPartition> partitions = new ArrayList<>();
        for (CompressionCodec codec : CompressionCodec.values()) {
            topics.add("chaos-" + codec.name().toLowerCase(Locale.ROOT));
        }
        topics.forEach(topic -> addPartitions(topic, partitions));
        List<TopicPartition> transactional = new ArrayList<>();
        TRANSACTIONAL_TOPICS.forEach(topic -> addPartitions(topic, transactional));
        Map<String, String> partitionByDirectory;
        try (Admin admin = Admin.builder().bootstrapServers(broker.address()).build()) {
            Stream.concat(topics.stream(), TRANSACTIONAL_TOPICS.stream())
                    .forEach(topic -> admin.createTopic(NewTopic.of(topic, PARTITIONS)));
            partitionByDirectory = directories(admin, topics);
        }
        TransactionLedger outcomes = new TransactionLedger(ledger);
        TransactionalClients transactions = new TransactionalClients(outcomes, transactional);
        Reading reading = settled -> {
            LoadClients.readEverything(ledger, broker.address(), partitions);
            transactions.readCommitted(broker.address(), settled);
        };
        Cycle cycle = new Cycle(
                broker, port, health, ledger, new JournalDamage(broker.dataDirectory(), partitionByDirectory), random);
        int done = 0;
        long consumed = 0;
        try (ClientThreads load =
                new ClientThreads(ledger, broker.address(), pause.toMillis(), LoadClients.REQUEST_TIMEOUT)) {
            begin(load, topics, transactions);
            try {
                done = injectFaults(cycle, ledger, reading, random);
            } catch (Cycle.BrokerLostException lost) {
                ledger.report(lost.getMessage());
                load.abandon();
                return;
            }
            consumed = load.consumedCount();
        } finally {
            System.out.println(cycle.summary());
        }
        reading.run(true);
        System.out.printf(
                Locale.ROOT,
                "%d cycles, %d messages acknowledged, %d read back, %d consumed by groups;"
                        + " %d transactions committed, %d aborted; %d findings%n",
                done,
                ledger.acknowledgedCount(),
                ledger.foundCount(),
                consumed,
                outcomes.committedCount(),
                outcomes.abortedCount(),
                ledger.findings().size());
    }

    /** The names of partitions in the ledger, by the names of their directories. */
    private static Map<String, String> directories(Admin admin, List<String> topics) {
        Map<String, String> directories = new TreeMap<>();
        admin.describeTopics(topics).forEach((topic, description) -> {
            for (int i = 0; i < PARTITIONS; i++) {
                directories.put(description.id() + "-" + i, topic + "-" + i);
            }
        });
        return directories;
    }

    private static void addPartitions(String topic, List<TopicPartition> partitions) {
        for (int i = 0; i < PARTITIONS; i++) {
            partitions.add(new TopicPartition(topic, i));
        }
    }

    /** Reads everything back and compares it with the ledgers. */
    private interface Reading {
        /** @param settled whether no client is writing any more */
        void run(boolean settled);
    }

    private static void begin(ClientThreads load, List<String> topics, TransactionalClients transactions) {
        CompressionCodec[] codecs = CompressionCodec.values();
        for (int i = 0; i < codecs.length; i++) {
            String topic = topics.get(i);
            LoadClients.produceWithKafka(load, 2 * i, topic, PARTITIONS, codecs[i], Acks.ALL);
            LoadClients.produceWithJournalQ(load, 2 * i + 1, topic, PARTITIONS, codecs[i], Acks.LEADER);
        }
        int next = 2 * codecs.length;
        transactions.writeWithJournalQ(load, next++, CompressionCodec.LZ4);
        transactions.writeWithJournalQ(load, next++, CompressionCodec.NONE);
        transactions.writeWithKafka(load, next++, CompressionCodec.ZSTD);
        transactions.writeWithKafka(load, next, CompressionCodec.GZIP);
        LoadClients.consumeWithKafka(load, "classic-group", "classic", "read_uncommitted", topics);
        LoadClients.consumeWithKafka(load, "consumer-group", "consumer", "read_committed", TRANSACTIONAL_TOPICS);
        LoadClients.consumeWithJournalQ(load, "journalq-group", Consumer.Isolation.READ_UNCOMMITTED, topics);
    }

    /** Runs cycles until enough are done, the time has passed, or there is a finding. Returns the number of cycles. */
    private int injectFaults(Cycle cycle, Ledger ledger, Reading reading, Random random) throws Exception {
        long startNanos = System.nanoTime();
        long limitNanos = duration == null ? Long.MAX_VALUE : duration.toNanos();
        int done = 0;
        while (done < cycles
                && System.nanoTime() - startNanos < limitNanos
                && ledger.findings().isEmpty()) {
            Thread.sleep(SHORTEST_LIFE_MS + random.nextInt(LONGEST_LIFE_MS));
            awaitProgress(ledger, random.nextInt(MOST_AWAITED_MESSAGES));
            cycle.run(InjectedFault.draw(faults, random));
            done++;
            if (done % checkEvery == 0) {
                reading.run(false);
                System.out.printf(
                        Locale.ROOT,
                        "%d cycles, %d messages acknowledged, %d read back%n",
                        done,
                        ledger.acknowledgedCount(),
                        ledger.foundCount());
            }
        }
        return done;
    }

    /**
     * Waits until the clients have made progress. On a busy machine, a short life of the broker may not be enough for
     * that.
     */
    private static void awaitProgress(Ledger ledger, int messages) throws InterruptedException {
        long wanted = ledger.acknowledgedCount() + messages;
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_WAIT_MS);
        while (ledger.acknowledgedCount() < wanted && System.nanoTime() < endNanos) {
            Thread.sleep(1);
        }
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
