package io.journalq.sim.workload;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.sim.world.SimBroker;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Compares the topics of a restarted broker with those that it should have. */
public final class TopicInventory {
    private static final String INVARIANT = "TopicsAreKept";
    private static final int METADATA_VERSION = 12;

    private final World world;
    private Map<String, Uuid> found;

    private TopicInventory(World world) {
        this.world = world;
    }

    /** Sends the request. {@link #isKnown} tells when the result is there. */
    public static TopicInventory ask(World world) {
        TopicInventory inventory = new TopicInventory(world);
        SimBroker.Connection connection = world.broker().connect();
        connection.send(ApiKey.METADATA, METADATA_VERSION, new MetadataRequest().setTopics(null), message -> {
            Map<String, Uuid> all = new TreeMap<>();
            for (MetadataResponse.MetadataResponseTopic topic : ((MetadataResponse) message).topics()) {
                if (!topic.isInternal()) {
                    all.put(topic.name(), topic.topicId());
                }
            }
            inventory.found = all;
        });
        return inventory;
    }

    public boolean isKnown() {
        return found != null;
    }

    /**
     * Compares the topics. Afterwards, each topic is either present or gone.
     *
     * @param onPresent called for each topic that exists although its creation was never confirmed
     */
    public void settle(List<Topic> topics, Consumer<Topic> onPresent) {
        Map<String, Uuid> unknown = new TreeMap<>(found);
        for (Topic topic : topics) {
            Uuid id = found.get(topic.name());
            boolean present = topic.id() != null && topic.id().equals(id);
            if (present) {
                unknown.remove(topic.name());
            }
            boolean wrong = (topic.state() == Topic.State.PRESENT && !present)
                    || (topic.state() == Topic.State.GONE && present);
            if (wrong && !world.isHarmed()) {
                world.report(INVARIANT, topic + (present ? " exists" : " does not exist"));
            }
            if (topic.state() != Topic.State.CREATING) {
                topic.settle(present);
            }
        }
        for (Topic topic : topics) {
            if (topic.state() == Topic.State.CREATING) {
                Uuid id = unknown.remove(topic.name());
                if (id != null) {
                    topic.onPresent(id);
                    onPresent.accept(topic);
                }
                topic.settle(id != null);
            }
        }
        if (!unknown.isEmpty() && !world.isHarmed()) {
            world.report(INVARIANT, "topics that no client created: " + unknown);
        }
    }
}
