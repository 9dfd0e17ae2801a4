package io.journalq.chaos;

import io.journalq.chaos.hostile.HostileLoad;
import io.journalq.chaos.hostile.HostileMeasurement;
import io.journalq.chaos.hostile.LatencyProbe;
import io.journalq.chaos.hostile.MetricsPage;
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
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures what hostile clients do to a healthy one beside them. */
@Command(
        name = "hostile",
        mixinStandardHelpOptions = true,
        description = {
            "Measures a healthy client's latency alone, and beside each kind of hostile load.",
            "",
            "A round has the healthy client work alone, then beside the load; the load begins anew in each. What is"
                    + " compared is the median of the rounds' p99. The load has a process of its own at the lowest"
                    + " priority, as its processor time is not the broker's. BUSY_PROCESSOR leaves the broker alone: so"
                    + " much is the machine's, and not judged."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:its p99 grew by no more than the factor", "1:it did, or the broker failed"})
final class HostileCommand implements Callable<Integer> {
    private static final String BROKER_HEAP = "512m";
    private static final int BACKLOG_BATCHES = 64;
    private static final int BACKLOG_BATCH_BYTES = 900 << 10;
    private static final double WARM_UP_SECONDS = 6;

    @Option(names = "--seconds", defaultValue = "4", description = "Alone, and beside a load (default: 4).")
    private double seconds;

    @Option(names = "--rounds", defaultValue = "5", description = "Of each load (default: 5).")
    private int rounds;

    @Option(
            names = "--rate",
            defaultValue = "500",
            description = "Messages a second of the healthy client (default: 500).")
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
        int metricsPort = BrokerUnderTest.freePort();
        int port = BrokerUnderTest.freePort();
        List<String> all = new ArrayList<>(settings);
        all.add("admin.listener=127.0.0.1:" + metricsPort);
        boolean within = true;
        try (BrokerUnderTest broker = new BrokerUnderTest(folder, port, BROKER_HEAP, List.of(), all)) {
            broker.start();
            prepare(broker.address(), port);
            try (LatencyProbe probe = new LatencyProbe(port)) {
                probe.run(WARM_UP_SECONDS, rate);
                HostileMeasurement measurement =
                        new HostileMeasurement(probe, new MetricsPage(metricsPort), broker.pid(), port, seconds, rate);
                System.out.println(HostileMeasurement.HEADING);
                for (HostileLoad load : loads) {
                    int count = Math.max(1, (int) (load.usualCount() * counts));
                    HostileMeasurement.Outcome outcome = measurement.measure(load, count, rounds);
                    System.out.println(outcome.line());
                    within &= load == HostileLoad.BUSY_PROCESSOR || outcome.factor() <= factor;
                }
            }
        }
        ChaosMain.delete(folder);
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
}
