package io.journalq.chaos.cluster;

import io.journalq.chaos.load.BrokerReports;
import io.journalq.chaos.load.Ledger;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the brokers have logged since a cycle began, including those that have been replaced since: unexpected failures,
 * and the brokers that they fenced. One thread.
 */
final class BrokerLogs {
    private final LocalCluster cluster;
    private final ClusterMembers members;
    private final Ledger ledger;
    private final Map<Integer, Long> starts = new TreeMap<>();

    /** When brokers were fenced by controllers that have been replaced since. */
    private final List<Instant> fencedByReplaced = new ArrayList<>();

    /** Notes where the logs end now. */
    BrokerLogs(LocalCluster cluster, ClusterMembers members, Ledger ledger) {
        this.cluster = cluster;
        this.members = members;
        this.ledger = ledger;
        members.ids().forEach(id -> starts.put(id, cluster.process(id).logEnd()));
    }

    /** Reads the log of a broker that is about to be replaced. */
    void onReplaced(int id) throws IOException {
        reportFailure(id);
        fencedByReplaced.addAll(fencingsBy(id));
    }

    /** Reports the unexpected failures of the brokers that belong to the cluster now. */
    void reportFailures() throws IOException {
        for (int id : members.ids()) {
            reportFailure(id);
        }
    }

    /** When brokers were fenced. */
    List<Instant> fencings() throws IOException {
        List<Instant> fencings = new ArrayList<>(fencedByReplaced);
        for (int id : members.ids()) {
            fencings.addAll(fencingsBy(id));
        }
        return fencings;
    }

    private List<Instant> fencingsBy(int id) throws IOException {
        return BrokerReports.fencings(logOf(id));
    }

    private void reportFailure(int id) throws IOException {
        String failure = BrokerReports.unexpectedFailure(logOf(id));
        if (failure != null) {
            ledger.report("unexpected failure of broker " + id + ": " + failure);
        }
    }

    private String logOf(int id) throws IOException {
        return cluster.process(id).logSince(starts.getOrDefault(id, 0L));
    }
}
