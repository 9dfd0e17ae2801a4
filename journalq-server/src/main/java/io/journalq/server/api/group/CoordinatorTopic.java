package io.journalq.server.api.group;

import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.TopicSpec;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The internal topic of one kind of coordinators, created when one of them is first asked for. Any thread. */
public final class CoordinatorTopic {
    private final TopicSpec spec;
    private final MetadataPublisher metadata;
    private final Controller controller;

    /** @param spec as which it is created */
    public CoordinatorTopic(TopicSpec spec, MetadataPublisher metadata, Controller controller) {
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

    private boolean isThere() {
        return metadata.current().topic(spec.name()) != null;
    }
}
