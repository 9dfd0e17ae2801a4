package io.journalq.bench.cli;

import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.common.commandline.DurationOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench security}: what encryption, logins and sealing cost. */
@Command(
        name = "security",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures what encryption, logins and sealing cost.",
            "Starts each broker with a plain listener, two with TLS (keys ECDSA P-256 and RSA 2048) and one with logins. Each"
                    + " round measures each broker once. The medians of all rounds are compared. The other broker is"
                    + " frozen.",
            "cases: the produce cases over the plain listener, over TLS and, with JournalQ, sealed.",
            "caller: one caller that waits for each message, over the plain listener and over TLS.",
            "reads: a consumer that reads 1 GiB again and again, over the plain listener and over TLS.",
            "requests: prebuilt Produce requests with one message each, over the plain listener, after a login, and after a"
                    + " login with 10,000 ACLs.",
            "connections: TLS handshakes, resumed ones, and logins by SCRAM-SHA-256. TLS 1.3 is measured twice: with the key"
                    + " exchange that BoringSSL prefers, which is post-quantum (X25519MLKEM768) if the broker has it, and"
                    + " with P-256.",
            "storm: Produce requests over one plain connection, one at a time, alone and beside as many TLS handshakes with"
                    + " the key RSA as --threads can open.",
            "A round takes (--warmup + --duration) for each of 19 measurements of JournalQ and 17 of Kafka, with the default"
                    + " cases.",
            "Exit code: 0 on success, 1 if a check failed, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench security --brokers journalq --rounds 1 --duration 2s",
            "  journalq-bench security --brokers journalq,kafka --rounds 3",
            "  journalq-bench security --measure connections --rounds 5 --first-warmup 20s"
        })
final class SecurityCommand implements Callable<Integer> {
    @Option(
            names = "--brokers",
            split = ",",
            defaultValue = "journalq",
            paramLabel = "NAME",
            description = "The brokers to start: journalq, kafka or both (default: ${DEFAULT-VALUE}).")
    private List<BrokerChoice> brokers;

    @Option(
            names = "--measure",
            split = ",",
            defaultValue = "cases,caller,reads,requests,connections,storm",
            paramLabel = "PART",
            description = "What is measured (default: all, which are ${DEFAULT-VALUE}).")
    private Set<SecuredBroker.Part> parts;

    @Option(
            names = "--cases",
            defaultValue = "1,3",
            paramLabel = "LIST",
            description = "Cases of journalq-bench produce (default: ${DEFAULT-VALUE}).")
    private WorkloadOptions.Cases cases;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of rounds (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--threads",
            defaultValue = "2",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Threads that open connections (default: ${DEFAULT-VALUE}).")
    private int threads;

    @Option(
            names = "--duration",
            defaultValue = "4s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of each measurement (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "2s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Option(
            names = "--first-warmup",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement of the first round, so that the JVM has compiled the code"
                    + " (default: the value of --warmup).")
    private Duration firstWarmup;

    @Option(
            names = "--payload",
            defaultValue = "text",
            paramLabel = "KIND",
            description = "Content of the messages: text or random (default: ${DEFAULT-VALUE}).")
    private String payload;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        SecurityResults results = new SecurityResults();
        SecuredBroker.Plan plan = new SecuredBroker.Plan(parts, cases.required("--cases"), payload, threads, duration);
        List<SecuredBroker> all = new ArrayList<>();
        PayloadPool pool = plan.pool();
        try {
            for (BrokerChoice choice : brokers) {
                SecuredBroker broker = new SecuredBroker(choice, plan, pool, results);
                all.add(broker);
                broker.start();
            }
            for (int round = 0; round < rounds; round++) {
                for (SecuredBroker broker : all) {
                    broker.measure(new SecuredBroker.Round(round, warmup(round)));
                }
            }
        } finally {
            all.forEach(SecuredBroker::close);
        }
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("rounds", rounds);
        settings.put("measured", parts.toString());
        settings.put("payload", payload);
        settings.put("connection_threads", threads);
        settings.put("first_warmup", warmup(0).toString());
        settings.put("warmup", warmup.toString());
        settings.put("duration", duration.toString());
        List<String> problems =
                all.stream().flatMap(broker -> broker.problems().stream()).toList();
        problems.forEach(problem -> System.err.println("invalid: " + problem));
        output.emit(settings, results.rows(), Map.of("runs", results.runs()));
        return problems.isEmpty() ? 0 : 1;
    }

    private Duration warmup(int round) {
        return round == 0 && firstWarmup != null ? firstWarmup : warmup;
    }
}
