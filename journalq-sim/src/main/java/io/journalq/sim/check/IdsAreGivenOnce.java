package io.journalq.sim.check;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.Message;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.journalq.sim.world.Violations;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Ids are given once: the id of a topic to one topic, a producer id to one producer, a block of producer ids to one
 * broker, and a broker epoch to one process. An epoch is the offset of its registration in the metadata log. A process
 * that repeats its registration keeps its epoch, except after another process of the broker has registered: a late
 * request of an earlier process can replace the registration of one that is fenced, which then registers again.
 */
public final class IdsAreGivenOnce {
    private static final String INVARIANT = "IdsAreGivenOnce";

    private final Violations violations;
    private final Set<Uuid> topicIds = new HashSet<>();
    private final Map<Uuid, String> names = new HashMap<>();
    private final Set<Long> producerIds = new HashSet<>();
    private final Map<Integer, Uuid> processes = new HashMap<>();
    private long nextProducerId;
    private long endOffset;

    public IdsAreGivenOnce(Violations violations) {
        this.violations = violations;
    }

    /** A broker applies records at an offset. The first one to do so shows which ids they give. */
    public void onReplay(long offset, List<Message> records) {
        if (offset != endOffset) {
            return;
        }
        for (Message record : records) {
            if (record instanceof TopicRecord topic) {
                require(topicIds.add(topic.topicId()), "the id of topic " + topic.name() + " is that of another topic");
            } else if (record instanceof ProducerIdsRecord block) {
                require(
                        block.nextProducerId() > nextProducerId,
                        "a block of producer ids ends at " + block.nextProducerId() + ", and the last one at "
                                + nextProducerId);
                nextProducerId = block.nextProducerId();
            } else if (record instanceof BrokerRecord broker) {
                require(
                        broker.epoch() == endOffset,
                        "broker " + broker.nodeId() + " has epoch " + broker.epoch() + " at offset " + endOffset);
                require(
                        !broker.incarnationId().equals(processes.put(broker.nodeId(), broker.incarnationId())),
                        "a process of broker " + broker.nodeId() + " gets another epoch, " + broker.epoch());
            }
            endOffset++;
        }
    }

    /** A controller says that it has created a topic. */
    public void onTopic(String name, Uuid id) {
        String before = names.putIfAbsent(id, name);
        require(before == null || before.equals(name), "topics " + before + " and " + name + " have the id " + id);
    }

    /** A broker gives a producer an id. */
    public void onProducerId(long producerId) {
        require(producerIds.add(producerId), "producer id " + producerId + " is given twice");
    }

    private void require(boolean kept, String details) {
        if (!kept) {
            violations.report(INVARIANT, details);
        }
    }
}
