package io.journalq.server.api.group;

import io.journalq.server.control.ControllerOperations;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The coordinators of one kind and their internal topic, which is created when a client first asks for one of them. Any
 * thread.
 */
public final class CoordinatorTopic {
    private static final int NO_NODE = -1;

    private final TopicSpec spec;
    private final MetadataPublisher metadata;
    private final ControllerOperations controller;
    private final Coordinators<?> coordinators;

    /** @param spec the name and the settings with which the topic is created */
    public CoordinatorTopic(
            TopicSpec spec, MetadataPublisher metadata, ControllerOperations controller, Coordinators<?> coordinators) {
        this.coordinators = coordinators;
        this.spec = spec;
        this.metadata = metadata;
        this.controller = controller;
    }

    /** Creates the topic if it does not exist. Returns whether it exists now; never fails. */
    public CompletableFuture<Boolean> ensure() {
        return isThere()
                ? CompletableFuture.completedFuture(true)
                : controller.createTopics(List.of(spec), false).handle((outcomes, failure) -> isThere());
    }

    /** As {@link #ensure}, but completes only after the coordinators of {@code keys} are loaded. */
    CompletableFuture<Boolean> ensureLoaded(List<String> keys) {
        return ensure().thenCompose(exists -> coordinators.whenAllLoaded(keys).thenApply(loaded -> exists));
    }

    /** The node that leads the partition of {@code key}; -1 while there is no topic. */
    int leaderFor(String key) {
        TopicImage topic = metadata.current().topic(spec.name());
        return topic == null
                ? NO_NODE
                : topic.partitions()
                        .get(Coordinators.partitionOf(key, topic.partitions().size()))
                        .leader();
    }

    private boolean isThere() {
        return metadata.current().topic(spec.name()) != null;
    }
}
