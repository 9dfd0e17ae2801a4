package io.journalq.server.control;

import io.journalq.server.metadata.MetadataImage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The newest image, and whoever follows it. Any thread may look; the controller's thread publishes. */
public final class MetadataPublisher {
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile MetadataImage current = MetadataImage.EMPTY;

    /** Follows the images. Called on the controller's thread, before the operation that made the image is answered. */
    @FunctionalInterface
    public interface Listener {
        /**
         * {@code next} is about to be published: makes ready what it adds, so that nobody sees a partition that is not
         * served yet.
         */
        default void prepare(MetadataImage now, MetadataImage next) {}

        /** {@code now} is published: gives up what it does not hold any more. */
        void onImage(MetadataImage before, MetadataImage now);
    }

    public MetadataImage current() {
        return current;
    }

    /** From now on {@code listener} hears of every image; the current one it must look up first. */
    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    void publish(MetadataImage now) {
        MetadataImage before = current;
        listeners.forEach(listener -> listener.prepare(before, now));
        current = now;
        listeners.forEach(listener -> listener.onImage(before, now));
    }
}
