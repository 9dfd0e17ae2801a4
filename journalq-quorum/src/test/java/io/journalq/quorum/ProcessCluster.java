package io.journalq.quorum;

import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/** Brokers of a cluster, each in a process of its own, as tests of failovers use them. */
final class ProcessCluster extends LocalCluster {
    private static final int WAIT_SECONDS = 180;

    ProcessCluster(Path directory) {
        super(directory, Map.of("replica.lag.time.max.ms", "3000"));
    }

    /** Starts brokers one after the other. */
    void startAll(int brokers) throws IOException, InterruptedException {
        startAll(brokers, WAIT_SECONDS);
    }

    /** A client for the brokers that are started. */
    Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers(), "request.timeout.ms", "3000"));
    }

    /** Something that becomes true, and may fail until then. */
    interface Condition {
        boolean holds() throws Exception;
    }

    static void await(String what, Condition condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (true) {
            boolean holds = false;
            Exception failure = null;
            try {
                holds = condition.holds();
            } catch (Exception notYet) {
                failure = notYet;
            }
            if (holds) {
                return;
            }
            if (System.nanoTime() > deadline) {
                throw new AssertionError(
                        "waited too long for " + what + (failure == null ? "" : ": " + failure), failure);
            }
            Thread.sleep(100);
        }
    }
}
