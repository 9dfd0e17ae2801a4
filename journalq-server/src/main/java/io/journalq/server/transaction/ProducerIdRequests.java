package io.journalq.server.transaction;

import java.util.Map;
import java.util.TreeMap;

/**
 * Steps that wait for a producer id, at most one for each transactional id. Other requests for that transactional id
 * have to wait until then.
 */
final class ProducerIdRequests {
    private final ProducerIdSource source;
    private final Map<String, Step> waiting = new TreeMap<>();

    /** Continues with the id. */
    interface Step {
        /** Called with the id, or with {@link ProducerIdSource#NONE}. */
        void run(long producerId, long nowMs);
    }

    ProducerIdRequests(ProducerIdSource source) {
        this.source = source;
    }

    boolean contains(String transactionalId) {
        return waiting.containsKey(transactionalId);
    }

    void add(String transactionalId, Step step) {
        waiting.put(transactionalId, step);
        source.request(transactionalId);
    }

    /** Runs the waiting step. An id that an earlier machine requested has no waiting step and remains unused. */
    void onProducerId(String transactionalId, long producerId, long nowMs) {
        Step step = waiting.remove(transactionalId);
        if (step != null) {
            step.run(producerId, nowMs);
        }
    }
}
