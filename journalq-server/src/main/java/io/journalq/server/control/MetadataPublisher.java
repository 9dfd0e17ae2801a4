package io.journalq.server.control;

import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Holds the newest image and informs its listeners. Any thread may read; the controller's thread publishes. */
public final class MetadataPublisher {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile MetadataImage current = MetadataImage.EMPTY;

    /** Is informed of new images on the controller's thread, before the operation that created the image completes. */
    @FunctionalInterface
    public interface Listener {
        /**
         * Called before the new image is published: prepares what it adds, so that no client sees a partition that is
         * not served yet.
         */
        default void prepare(MetadataDelta delta) {}

        /** Called after the new image was published: removes what it no longer contains. */
        void onImage(MetadataDelta delta);
    }

    public MetadataImage current() {
        return current;
    }

    /** Adds a listener for later images; the listener must read the current one itself first. */
    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    void publish(MetadataDelta delta) {
        listeners.forEach(listener -> listener.prepare(delta));
        current = delta.now();
        listeners.forEach(listener -> listener.onImage(delta));
    }
}
