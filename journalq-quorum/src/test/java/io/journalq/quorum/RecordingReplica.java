package io.journalq.quorum;

import io.journalq.common.protocol.Message;
import io.journalq.server.control.MetadataLog;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import java.util.ArrayList;
import java.util.List;

/** A replica whose state is the list of all records, each of them a number. */
class RecordingReplica implements MetadataLog.Replica {
    private final List<Long> values = new ArrayList<>();
    private int restores;
    private RuntimeException failure;

    static Message record(long value) {
        return new ProducerIdsRecord().setNextProducerId(value);
    }

    private static long value(Message record) {
        return ((ProducerIdsRecord) record).nextProducerId();
    }

    @Override
    public synchronized void replay(List<Message> records) {
        if (failure != null) {
            throw failure;
        }
        records.forEach(record -> values.add(value(record)));
    }

    @Override
    public synchronized void restore(List<Message> snapshot) {
        values.clear();
        restores++;
        replay(snapshot);
    }

    @Override
    public synchronized List<Message> snapshot() {
        return values.stream().map(RecordingReplica::record).toList();
    }

    @Override
    public int level() {
        return ClusterVersion.FIRST;
    }

    synchronized List<Long> values() {
        return List.copyOf(values);
    }

    synchronized int size() {
        return values.size();
    }

    synchronized int restores() {
        return restores;
    }

    /** Every later replay throws {@code reason}. */
    synchronized void failWith(RuntimeException reason) {
        failure = reason;
    }
}
