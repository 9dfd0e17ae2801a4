package io.journalq.chaos;

import io.journalq.chaos.hostile.BrokerPage;
import io.journalq.chaos.hostile.HostileLoad;
import io.journalq.chaos.hostile.Neighbour;
import io.journalq.chaos.hostile.Requests;
import io.journalq.client.Admin;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.record.CompressionCodec;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures what hostile clients do to a healthy one beside them. */
@Command(
        name = "hostile",
        mixinStandardHelpOptions = true,
        description = "Measures a healthy client's latency alone, and beside each kind of hostile load.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:its p99 grew by no more than the factor", "1:it did, or the broker failed"})
final class HostileCommand implements Callable<Integer> {
    private static final List<String> BROKER_OPTIONS =
            List.of("-Xms256m", "-Xmx256m", "-XX:MaxDirectMemorySize=512m", "-XX:+ExitOnOutOfMemoryError");
    private static final int BACKLOG_BATCHES = 64;
    private static final int BACKLOG_BATCH_BYTES = 900 << 10;
    private static final double WARM_UP_SECONDS = 4;
    private static final double SETTLE_SECONDS = 2;

    @Option(names = "--seconds", defaultValue = "8", description = "Beside each load (default: 8).")
    private double seconds;

    @Option(
            names = "--rate",
            defaultValue = "300",
            description = "Messages a second of the healthy client (default: 300).")
    private int rate;

    @Option(names = "--loads", split = ",", description = "Which: ${COMPLETION-CANDIDATES} (default: all).")
    private List<HostileLoad> loads = List.of(HostileLoad.values());

    @Option(
            names = "--factor",
            defaultValue = "2",
            description = "How much larger the p99 may be beside a load (default: 2).")
    private double factor;

    @Option(
            names = "--counts",
            defaultValue = "1",
            description = "Share of each load's usual number of connections (default: 1).")
    private double counts;

    @Option(names = "--set", description = "A setting of the broker, as key=value.")
    private List<String> settings = List.of();

    @Override
    public Integer call() throws Exception {
        Path folder = Files.createTempDirectory("journalq-hostile");
        int metricsPort = BrokerProcess.freePort();
        int port = BrokerProcess.freePort();
        List<String> all = new ArrayList<>(settings);
        all.add("admin.listener=127.0.0.1:" + metricsPort);
        boolean within = true;
        try (BrokerProcess broker = new BrokerProcess(folder, port, BROKER_OPTIONS, all)) {
            broker.start();
            prepare(broker.address(), port);
            BrokerPage page = new BrokerPage(metricsPort);
            try (Neighbour neighbour = new Neighbour(port)) {
                neighbour.run(WARM_UP_SECONDS, rate);
                System.out.println("load | connections or threads | alone p50/p99/max ms | beside p50/p99/max ms"
                        + " | p99 factor | heap MB | direct MB | open connections | limits reached and refusals");
                for (HostileLoad load : loads) {
                    within &= measure(load, port, neighbour, page);
                }
            }
        }
        delete(folder);
        return within ? 0 : 1;
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
                in.readNBytes(in.readInt());
            }
        }
    }

    private boolean measure(HostileLoad load, int port, Neighbour neighbour, BrokerPage page) throws Exception {
        int count = Math.max(1, (int) (load.usualCount() * counts));
        Neighbour.Latencies alone = neighbour.run(seconds, rate);
        BrokerPage.Sample before = page.sample();
        Process hostile = start(load, port, count);
        Neighbour.Latencies beside;
        BrokerPage.Sample during;
        try {
            neighbour.run(SETTLE_SECONDS, rate);
            beside = neighbour.run(seconds, rate);
            during = page.sample();
        } finally {
            hostile.destroyForcibly().waitFor();
        }
        double grown = beside.percentile(0.99) / (double) Math.max(1, alone.percentile(0.99));
        System.out.printf(
                Locale.ROOT,
                "%s | %d | %s | %s | %.1f | %d | %d | %d | %s%n",
                load.name().toLowerCase(Locale.ROOT),
                count,
                text(alone),
                text(beside),
                grown,
                during.heapMegabytes(),
                during.directMegabytes(),
                during.openConnections(),
                during.reachedSince(before));
        // What is left of it is answered and closed before the next.
        neighbour.run(SETTLE_SECONDS, rate);
        return grown <= factor;
    }

    private static String text(Neighbour.Latencies latencies) {
        double toMillis = TimeUnit.MILLISECONDS.toMicros(1);
        return String.format(
                Locale.ROOT,
                "%.2f / %.2f / %.1f",
                latencies.percentile(0.5) / toMillis,
                latencies.percentile(0.99) / toMillis,
                latencies.max() / toMillis);
    }

    /** At the lowest priority: clients have machines of their own, and are not to take the broker's processors. */
    private static Process start(HostileLoad load, int port, int count) throws IOException {
        List<String> command = List.of(
                "nice",
                "-n",
                "19",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-Xss256k",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                HostileLoad.class.getName(),
                load.name(),
                Integer.toString(port),
                Integer.toString(count));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
