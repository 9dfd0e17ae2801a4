package io.journalq.server.transaction;

import java.util.Map;
import java.util.TreeMap;

/** Steps that wait for a producer id, one at most for each transactional id; until then the id does nothing else. */
final class ProducerIdWaits {
    private final ProducerIdSource source;
    private final Map<String, Step> waiting = new TreeMap<>();

    /** What to do with the id. */
    interface Step {
        /** The id is there, or {@link ProducerIdSource#NONE}. */
        void run(long producerId, long nowMs);
    }

    ProducerIdWaits(ProducerIdSource source) {
        this.source = source;
    }

    boolean contains(String transactionalId) {
        return waiting.containsKey(transactionalId);
    }

    void add(String transactionalId, Step step) {
        waiting.put(transactionalId, step);
        source.request(transactionalId);
    }

    /** An answer that nobody waits for, of a machine before this one, is an id that stays unused. */
    void onProducerId(String transactionalId, long producerId, long nowMs) {
        Step step = waiting.remove(transactionalId);
        if (step != null) {
            step.run(producerId, nowMs);
        }
    }
}
