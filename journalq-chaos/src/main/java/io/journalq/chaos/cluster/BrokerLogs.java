package io.journalq.chaos.cluster;

import io.journalq.chaos.load.BrokerReports;
import io.journalq.chaos.load.Ledger;
import io.journalq.server.process.LocalCluster;
import java.io.IOException;
import java.time.Duration;
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

    /** The brokers that were fenced by controllers which have been replaced since. */
    private final List<BrokerReports.Fencing> fencedByReplaced = new ArrayList<>();

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

    /** The brokers that were fenced. */
    List<BrokerReports.Fencing> fencings() throws IOException {
        List<BrokerReports.Fencing> fencings = new ArrayList<>(fencedByReplaced);
        for (int id : members.ids()) {
            fencings.addAll(fencingsBy(id));
        }
        return fencings;
    }

    /**
     * For how long a fenced broker acknowledged what its successor does not have: until it learned of that, and removed
     * it.
     *
     * @param longest a removal later than this has another reason
     * @return zero if it removed nothing, or has been replaced since
     */
    Duration unaware(BrokerReports.Fencing fencing, Duration longest) throws IOException {
        if (!members.ids().contains(fencing.broker())) {
            return Duration.ZERO;
        }
        return BrokerReports.cuts(logOf(fencing.broker())).stream()
                .filter(cut ->
                        cut.isAfter(fencing.at()) && cut.isBefore(fencing.at().plus(longest)))
                .findFirst()
                .map(cut -> Duration.between(fencing.at(), cut))
                .orElse(Duration.ZERO);
    }

    private List<BrokerReports.Fencing> fencingsBy(int id) throws IOException {
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
