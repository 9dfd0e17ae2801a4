package io.journalq.sim.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.sim.workload.LogReader;
import java.util.ArrayList;
import java.util.List;

/** Reads one partition, from the beginning on. */
final class ClusterConsumer {
    private static final int MAX_WAIT_MS = 20;
    private static final int MAX_BYTES = 1 << 20;
    private static final int RETRY_PAUSE_MS = 60;
    private static final int LONGEST_PAUSE_MS = 20;

    private final ClusterClient client;
    private final ClusterListener listener;
    private final ClusterPartition partition;
    private final View view;
    private final List<LogReader.Found> records = new ArrayList<>();
    private final List<LogReader.Found> markers = new ArrayList<>();
    private LogReader.Bounds bounds = new LogReader.Bounds(0, 0, Long.MAX_VALUE);
    private long next;
    private ErrorCode lastError = ErrorCode.NONE;
    private boolean stopped;

    /**
     * What a consumer sees.
     *
     * @param committed whether it reads only committed records
     * @param broker the replica that it reads; {@link ClusterClient#UNKNOWN} for the leader
     */
    record View(boolean committed, int broker) {
        static final View EVERYTHING = new View(false, ClusterClient.UNKNOWN);
        static final View COMMITTED = new View(true, ClusterClient.UNKNOWN);
    }

    ClusterConsumer(ClusterClient client, ClusterListener listener, ClusterPartition partition, View view) {
        this.client = client;
        this.listener = listener;
        this.partition = partition;
        this.view = view;
    }

    void start() {
        client.later(LONGEST_PAUSE_MS, this::act);
    }

    void stop() {
        stopped = true;
    }

    ClusterPartition partition() {
        return partition;
    }

    /** Whether everything up to the high watermark of the last response was read. */
    boolean isAtEnd() {
        return next >= bounds.highWatermark();
    }

    /** What was read, up to now. */
    LogReader.Reading reading() {
        return new LogReader.Reading(
                partition.name() + (view.broker() == ClusterClient.UNKNOWN ? "" : " on broker " + view.broker()),
                records,
                markers,
                bounds);
    }

    /** The partition, with the error of the last response. */
    @Override
    public String toString() {
        return reading().partition() + (view.committed() ? " committed: " : ": ") + lastError + " at " + next + " of "
                + bounds;
    }

    private void act() {
        if (stopped) {
            return;
        }
        int broker = view.broker() == ClusterClient.UNKNOWN ? client.leaderOf(partition) : view.broker();
        if (broker == ClusterClient.UNKNOWN) {
            client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
            return;
        }
        LogReader.Ask ask = new LogReader.Ask(partition, next, -1, MAX_WAIT_MS, MAX_BYTES, view.committed());
        client.send(
                broker,
                ApiKey.FETCH,
                LogReader.FETCH_VERSION,
                ask.request(),
                message -> {},
                message -> onResult(ask, message));
    }

    private void onResult(LogReader.Ask ask, ApiMessage message) {
        if (!(message instanceof FetchResponse response)) {
            lastError = ErrorCode.NETWORK_EXCEPTION;
            client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
            return;
        }
        LogReader.Page page = LogReader.read(ask, response);
        lastError = page.error();
        if (lastError == ErrorCode.NONE) {
            bounds = page.bounds();
            next = page.nextOffset();
            records.addAll(page.records());
            markers.addAll(page.markers());
            page.records().forEach(found -> listener.onRead(partition, found, view.committed()));
            client.later(LONGEST_PAUSE_MS, this::act);
            return;
        }
        if (lastError == ErrorCode.OFFSET_OUT_OF_RANGE) {
            next = 0; // The partition has lost its end.
            records.clear();
            markers.clear();
        }
        client.refresh(() -> client.later(RETRY_PAUSE_MS, this::act));
    }
}
