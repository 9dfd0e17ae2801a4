package io.journalq.chaos;

import io.journalq.chaos.hostile.HostileLoad;
import io.journalq.chaos.hostile.HostileMeasurement;
import io.journalq.chaos.hostile.HostileTarget;
import io.journalq.chaos.hostile.LatencyProbe;
import io.journalq.chaos.hostile.MetricsSampler;
import io.journalq.chaos.hostile.Requests;
import io.journalq.client.Admin;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.ProgramVersion;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import io.journalq.server.process.LoopbackPorts;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures how hostile clients affect the latency of a healthy one. */
@Command(
        name = "hostile",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        description = {
            "Measures the latency of a healthy client, alone and beside each kind of hostile load.",
            "",
            "In each round, the healthy client works alone, then beside the load, which is started again for each"
                    + " round. The medians of the p99 of all rounds are compared. The load runs in a process of its own"
                    + " with the lowest priority, so that it does not take processor time from the broker. On a machine"
                    + " that other programs keep busy it does not run at all: use --usual-priority there. BUSY_PROCESSOR"
                    + " sends nothing to the broker and always has the usual priority. It shows the effect of a busy"
                    + " machine, and does not affect the exit code. The first rounds beside each load are not reported:"
                    + " Java compiles what the load uses, and the compiler takes processor time from the client.",
            "",
            "Loads of strangers attack listeners of SASL_SSL and SASL_PLAINTEXT from many loopback addresses, beside a"
                    + " healthy client with an encrypted connection: TLS_FLOOD, HALF_HANDSHAKES, TLS_HANDSHAKES,"
                    + " PIPELINED_SASL, GUESSES, PLAIN_BYTES_TO_TLS and TLS_TO_PLAIN_BYTES. Each round takes two turns of"
                    + " --duration."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the p99 stayed within the factor beside each load",
            "1:it did not, or the broker failed",
            "2:wrong usage"
        })
final class HostileCommand implements Callable<Integer> {
    private static final String BROKER_HEAP = "512m";
    private static final int BACKLOG_BATCHES = 64;
    private static final int BACKLOG_BATCH_BYTES = 900 << 10;
    private static final double WARM_UP_SECONDS = 6;
    /** So much faster than the measurements that Java has compiled the clients and the broker before these begin. */
    private static final int WARM_UP_FACTOR = 10;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            defaultValue = "4s",
            description = "Duration of each measurement, alone and beside a load (default: 4s).")
    private Duration duration;

    @Option(
            names = "--rounds",
            paramLabel = "COUNT",
            defaultValue = "5",
            description = "Number of rounds for each load (default: 5).")
    private int rounds;

    @Option(
            names = "--unreported",
            paramLabel = "COUNT",
            defaultValue = "2",
            description = "Rounds for each load before those that are reported (default: 2).")
    private int unreported;

    @Option(
            names = "--rate",
            paramLabel = "MESSAGES",
            defaultValue = "500",
            description = "Messages per second of the healthy client (default: 500).")
    private int rate;

    @Option(
            names = "--loads",
            paramLabel = "LOAD",
            split = ",",
            description = "Loads to measure: ${COMPLETION-CANDIDATES} (default: all).")
    private List<HostileLoad> loads = List.of(HostileLoad.values());

    @Option(
            names = "--factor",
            paramLabel = "FACTOR",
            defaultValue = "2",
            description = "Limit for the p99 beside a load, as a multiple of the p99 alone (default: 2).")
    private double factor;

    @Option(
            names = "--counts",
            paramLabel = "FACTOR",
            defaultValue = "1",
            description = "Factor for the usual number of connections of each load (default: 1).")
    private double counts;

    @Option(
            names = "--usual-priority",
            description = "Runs the loads with the priority of the broker, which adds their processor time to their"
                    + " effect.")
    private boolean usualPriority;

    @Option(names = "--set", paramLabel = "NAME=VALUE", description = "Setting of the broker, as name=value.")
    private List<String> settings = List.of();

    @Override
    public Integer call() throws Exception {
        ChaosMain.requirePositive(spec, "--rounds", rounds);
        ChaosMain.requirePositive(spec, "--rate", rate);
        if (unreported < 0) {
            throw new ParameterException(spec.commandLine(), "--unreported must be 0 or more");
        }
        ChaosMain.requirePositive(spec, "--factor", factor);
        ChaosMain.requirePositive(spec, "--counts", counts);
        try {
            BrokerConfigLoader.load(null, Map.of(), settings);
        } catch (ConfigException wrong) {
            throw new ParameterException(spec.commandLine(), wrong.getMessage());
        }
        Path directory = Files.createTempDirectory("journalq-hostile");
        int metricsPort = LoopbackPorts.next();
        Map<HostileTarget, Integer> ports = new EnumMap<>(HostileTarget.class);
        for (HostileTarget target : HostileTarget.values()) {
            ports.put(target, LoopbackPorts.next());
        }
        int port = ports.get(HostileTarget.PLAINTEXT);
        List<String> all = new ArrayList<>();
        all.add("admin.listener=127.0.0.1:" + metricsPort);
        all.add("listeners="
                + ports.entrySet().stream()
                        .map(listener -> listener.getKey() + "://127.0.0.1:" + listener.getValue())
                        .collect(Collectors.joining(",")));
        all.addAll(makeKeys(directory));
        all.addAll(settings);
        boolean within = true;
        try (BrokerUnderTest broker = new BrokerUnderTest(directory, port, BROKER_HEAP, List.of(), all)) {
            broker.start();
            prepare(broker.address(), port);
            try (LatencyProbe plain = new LatencyProbe(port, false);
                    LatencyProbe tls = new LatencyProbe(ports.get(HostileTarget.SSL), true)) {
                plain.run(WARM_UP_SECONDS, WARM_UP_FACTOR * rate);
                tls.run(WARM_UP_SECONDS, WARM_UP_FACTOR * rate);
                double seconds = (double) duration.toMillis() / TimeUnit.SECONDS.toMillis(1);
                HostileMeasurement measurement = new HostileMeasurement(
                        plain,
                        tls,
                        new MetricsSampler(metricsPort),
                        broker.pid(),
                        ports,
                        !usualPriority,
                        seconds,
                        rate);
                System.out.println(HostileMeasurement.HEADING);
                for (HostileLoad load : loads) {
                    int count = Math.max(1, (int) (load.usualCount() * counts));
                    HostileMeasurement.Outcome outcome = measurement.measure(load, count, unreported, rounds);
                    System.out.println(outcome.line());
                    within &= load == HostileLoad.BUSY_PROCESSOR || outcome.factor() <= factor;
                }
            }
        }
        ChaosMain.delete(directory);
        return within ? 0 : 1;
    }

    /** Makes the keys of the broker. Returns the settings that name them. */
    private static List<String> makeKeys(Path directory) throws IOException, InterruptedException {
        Path keys = directory.resolve("broker.p12");
        Path password = Files.writeString(directory.resolve("password"), "thrown-away\n");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=broker",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keys.toString(),
                        "-storepass:file",
                        password.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool cannot make the keys of the broker: " + output.strip());
        }
        return List.of("ssl.keystore.location=" + keys, "ssl.keystore.password.file=" + password);
    }

    private static void prepare(String address, int port) throws IOException {
        try (Admin admin = Admin.builder().bootstrapServers(address).build()) {
            admin.createTopic(NewTopic.of(Requests.HEALTHY_TOPIC, 1));
            admin.createTopic(NewTopic.of(Requests.HOSTILE_TOPIC, 1).withConfig("delivery.mode", "consistent"));
        }
        byte[] batch = Requests.produce(Requests.HOSTILE_TOPIC, CompressionCodec.NONE, BACKLOG_BATCH_BYTES);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            for (int i = 0; i < BACKLOG_BATCHES; i++) {
                socket.getOutputStream().write(batch);
                Requests.readProduced(in);
            }
        }
    }
}
