package io.journalq.sim.workload;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** A transaction of a simulated producer. */
public class SentTransaction {
    private final String name;
    private final Map<String, String> places = new LinkedHashMap<>();
    private Boolean commitRequested;
    private boolean acknowledged;
    private boolean refused;

    public SentTransaction(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    /** The ids of its records, with the names of their partitions, whether or not they arrived. */
    public Map<String, String> places() {
        return Collections.unmodifiableMap(places);
    }

    /** A record of the transaction is about to be sent. */
    public void add(String recordId, String partition) {
        places.put(recordId, partition);
    }

    /** Its producer is about to commit or to abort it. */
    public void onEnding(boolean commit) {
        commitRequested = commit;
    }

    /** Its end was acknowledged. */
    public void onAcknowledged() {
        acknowledged = true;
    }

    /** Its coordinator has refused the only attempt to end it, for good. */
    public void onRefused() {
        refused = true;
    }

    /** Whether its producer asked to commit it, and the coordinator may have done so. */
    public boolean mayBeCommitted() {
        return commitRequested != null && commitRequested && !refused;
    }

    /** Whether its commit was acknowledged. */
    public boolean isCommitted() {
        return acknowledged && commitRequested;
    }

    /** Whether its abort was acknowledged. */
    public boolean isAborted() {
        return acknowledged && !commitRequested;
    }

    @Override
    public String toString() {
        String end = commitRequested == null ? "not ended" : commitRequested ? "to commit" : "to abort";
        return "transaction " + name + " (" + end + (acknowledged ? ", acknowledged)" : refused ? ", refused)" : ")");
    }
}
