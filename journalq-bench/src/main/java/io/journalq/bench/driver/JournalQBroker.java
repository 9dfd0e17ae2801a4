package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * JournalQ as a process of its own, from the class path of this program, with its defaults and its data in a temporary
 * folder.
 */
public final class JournalQBroker extends KafkaProtocolBroker {
    private static final int START_TIMEOUT_S = 120;
    private static final int ANSWER_TIMEOUT_MS = 5_000;
    /** As in bin/journalq-server. */
    private static final String HEAP = "512m";

    private final Map<String, String> extra;
    private final int port = BrokerProcess.freePort();
    private BrokerProcess process;

    /** {@code extra} are settings of the broker, by its own names. */
    public JournalQBroker(Map<String, String> extra) {
        this.extra = Map.copyOf(extra);
    }

    /** The same with its page of metrics at a port of its own, unless {@code extra} says where. */
    public static JournalQBroker withMetrics(Map<String, String> extra) {
        Map<String, String> settings = new TreeMap<>(extra);
        settings.putIfAbsent("admin.listener", "localhost:" + BrokerProcess.freePort());
        return new JournalQBroker(settings);
    }

    @Override
    public String name() {
        return "journalq";
    }

    @Override
    public String version() {
        String version = JournalQBroker.class.getPackage().getImplementationVersion();
        return version == null ? "this checkout" : version;
    }

    @Override
    public void start() {
        process = new BrokerProcess(name());
        List<String> command = JvmOptions.java();
        command.addAll(List.of("-Xms" + HEAP, "-Xmx" + HEAP));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.journalq.server.broker.BrokerMain"));
        Map<String, String> settings = new TreeMap<>();
        settings.put("listeners", "PLAINTEXT://localhost:" + port);
        settings.put("admin.listener", "");
        settings.put("data.directories", process.folder().resolve("data").toString());
        settings.putAll(extra);
        settings.forEach((name, value) -> command.addAll(List.of("--set", name + "=" + value)));
        process.start(command, () -> admin().answers(ANSWER_TIMEOUT_MS), START_TIMEOUT_S);
    }

    @Override
    public Map<String, String> settings() {
        Map<String, String> settings = new TreeMap<>(extra);
        settings.put("heap", HEAP);
        return settings;
    }

    @Override
    public String bootstrap() {
        return "localhost:" + port;
    }

    @Override
    public long pid() {
        return process().pid();
    }

    @Override
    public void writeBack() {
        process().writeBack();
    }

    @Override
    public void settle() {
        process().settle();
    }

    @Override
    public Optional<Path> dataFolder() {
        return Optional.of(process().folder().resolve("data"));
    }

    @Override
    public Optional<String> metricsAddress() {
        return Optional.ofNullable(extra.get("admin.listener")).filter(address -> !address.isEmpty());
    }

    @Override
    public double restart(boolean kill) {
        return process().restart(kill);
    }

    @Override
    public void freeze() {
        process().signal("STOP");
    }

    @Override
    public void thaw() {
        process().signal("CONT");
    }

    private BrokerProcess process() {
        if (process == null) {
            throw new BenchException("journalq is not started", "start it first");
        }
        return process;
    }

    @Override
    public void close() {
        super.close();
        if (process != null) {
            process.close();
        }
    }
}
