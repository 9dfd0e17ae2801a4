package io.journalq.server.broker;

import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.TopicImage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The topics that the metadata log removes while it is replayed at the start: since the newest snapshot of this broker,
 * also while the broker did not run. Their files may still be here. Any thread.
 */
final class RemovedTopics implements MetadataPublisher.Listener {
    /** Null after the start: from then on, files are deleted as topics are removed. */
    private List<TopicImage> removed = new ArrayList<>();

    @Override
    public synchronized CompletableFuture<Void> prepare(MetadataDelta delta) {
        if (removed != null) {
            delta.topics().stream()
                    .filter(MetadataDelta.TopicChange::isRemoval)
                    .forEach(change -> removed.add(change.before()));
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void onImage(MetadataDelta delta) {
        // What was removed is known already.
    }

    /** The topics that were removed so far. Called once; later removals are not collected. */
    synchronized List<TopicImage> take() {
        List<TopicImage> taken = removed;
        removed = null;
        return taken;
    }
}
