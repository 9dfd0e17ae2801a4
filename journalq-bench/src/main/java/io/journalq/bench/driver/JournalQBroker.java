package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * JournalQ as a process of its own, from the class path of this program, with its defaults and its data in a temporary
 * folder.
 */
public final class JournalQBroker extends KafkaProtocolBroker {
    private static final int START_TIMEOUT_S = 30;
    private static final int ANSWER_TIMEOUT_MS = 2_000;
    private static final int NATIVE_ACCESS_SINCE = 24;
    /** As in bin/journalq-server. */
    private static final String HEAP = "512m";

    private final int port = BrokerProcess.freePort();
    private BrokerProcess process;

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
        List<String> command = new ArrayList<>(KafkaArtifacts.java());
        command.addAll(List.of("-Xms" + HEAP, "-Xmx" + HEAP));
        if (Runtime.version().feature() >= NATIVE_ACCESS_SINCE) {
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        }
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                "io.journalq.server.broker.BrokerMain",
                "--set",
                "listeners=PLAINTEXT://localhost:" + port,
                "--set",
                "admin.listener=",
                "--set",
                "data.directories=" + process.folder().resolve("data")));
        process.start(command, () -> admin().answers(ANSWER_TIMEOUT_MS), START_TIMEOUT_S);
    }

    @Override
    public Map<String, String> settings() {
        return Map.of("heap", HEAP);
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
