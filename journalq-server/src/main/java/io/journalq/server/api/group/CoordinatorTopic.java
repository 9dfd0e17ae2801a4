package io.journalq.server.api.group;

import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.TopicSpec;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The coordinators of one kind, and their internal topic, created when one of them is first asked for. Any thread. */
public final class CoordinatorTopic {
    private final TopicSpec spec;
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final Coordinators<?> coordinators;

    /** @param spec as which it is created */
    public CoordinatorTopic(
            TopicSpec spec, MetadataPublisher metadata, Controller controller, Coordinators<?> coordinators) {
        this.coordinators = coordinators;
        this.spec = spec;
        this.metadata = metadata;
        this.controller = controller;
    }

    /** Creates the topic unless it is there, and tells whether it is there now; never fails. */
    public CompletableFuture<Boolean> ensure() {
        return isThere()
                ? CompletableFuture.completedFuture(true)
                : controller.createTopics(List.of(spec), false).handle((outcomes, failure) -> isThere());
    }

    /** As {@link #ensure}, and completed once the coordinators of {@code keys} are loaded. */
    CompletableFuture<Boolean> ensureLoaded(List<String> keys) {
        return ensure().thenCompose(exists -> coordinators.whenAllLoaded(keys).thenApply(loaded -> exists));
    }

    boolean isThere() {
        return metadata.current().topic(spec.name()) != null;
    }
}
