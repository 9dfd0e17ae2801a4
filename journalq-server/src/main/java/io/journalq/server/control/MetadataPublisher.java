package io.journalq.server.control;

import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the newest image and informs its listeners. An image is published when all listeners have prepared what it
 * adds, and after all earlier images. Any thread may read.
 */
public final class MetadataPublisher {
    private static final Logger log = LoggerFactory.getLogger(MetadataPublisher.class);

    private final Executor executor;
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private volatile MetadataImage current = MetadataImage.EMPTY;
    /** The last image that is published or being prepared. */
    private volatile MetadataImage newestImage = MetadataImage.EMPTY;

    private volatile CompletableFuture<Void> newest = CompletableFuture.completedFuture(null);

    /** Is informed of new images, before the operation that created the image completes. */
    @FunctionalInterface
    public interface Listener {
        /**
         * Begins to prepare what a new image adds, so that no client sees a partition that is not served yet. Called
         * in the order of the log by the thread that replays it, so it must not wait for anything. Earlier images may
         * still be unpublished.
         *
         * @return completed when the image may be published
         */
        default CompletableFuture<Void> prepare(MetadataDelta delta) {
            return CompletableFuture.completedFuture(null);
        }

        /** Called after the new image was published: removes what it no longer contains. One call at a time. */
        void onImage(MetadataDelta delta);
    }

    /** @param executor publishes the images whose preparation takes a while */
    public MetadataPublisher(Executor executor) {
        this.executor = executor;
    }

    public MetadataImage current() {
        return current;
    }

    /** The last image that the log has committed. Listeners may already act on it before it is published. */
    public MetadataImage newest() {
        return newestImage;
    }

    /**
     * Adds a listener for all images after the returned one, which may not be published yet. The listener must read the
     * returned image itself. It may also be informed of that image, and of images before it that are not published yet.
     */
    public synchronized MetadataImage addListener(Listener listener) {
        listeners.add(listener);
        return newestImage;
    }

    /** Completed when an image is published for which {@code condition} holds, or at once if it holds now. */
    public CompletableFuture<MetadataImage> whenPublished(Predicate<MetadataImage> condition) {
        CompletableFuture<MetadataImage> held = new CompletableFuture<>();
        Listener listener = delta -> {
            if (condition.test(delta.now())) {
                held.complete(delta.now());
            }
        };
        listeners.add(listener);
        if (condition.test(current)) {
            held.complete(current);
        }
        var unused = held.whenComplete((image, failure) -> listeners.remove(listener));
        return held;
    }

    /** Publishes the image of a delta when it is prepared. Called in the order of the log, by one thread at a time. */
    void publish(MetadataDelta delta) {
        synchronized (this) {
            newestImage = delta.now();
        }
        List<CompletableFuture<Void>> prepared = new ArrayList<>(listeners.size() + 1);
        prepared.add(newest);
        listeners.forEach(listener -> prepared.add(prepare(listener, delta)));
        CompletableFuture<Void> ready = CompletableFuture.allOf(prepared.toArray(new CompletableFuture<?>[0]));
        newest = ready.isDone()
                ? ready.thenRun(() -> onPrepared(delta))
                : ready.thenRunAsync(() -> onPrepared(delta), this::execute);
    }

    /** The log has committed the image, so it is published even if the listener fails. */
    private static CompletableFuture<Void> prepare(Listener listener, MetadataDelta delta) {
        return CompletableFuture.completedFuture(delta)
                .thenCompose(listener::prepare)
                .exceptionally(defect -> {
                    log.error(
                            "event=metadata-not-prepared version={}",
                            delta.now().version(),
                            defect);
                    return null;
                });
    }

    private void execute(Runnable publication) {
        try {
            executor.execute(publication);
        } catch (RejectedExecutionException overloaded) {
            publication.run();
        }
    }

    private void onPrepared(MetadataDelta delta) {
        current = delta.now();
        for (Listener listener : listeners) {
            try {
                listener.onImage(delta);
            } catch (RuntimeException | Error defect) {
                // Later images must still be published.
                log.error("event=metadata-not-followed version={}", delta.now().version(), defect);
            }
        }
    }

    /** Completed when the images of everything that the log has committed up to now are published. Never fails. */
    public CompletableFuture<Void> published() {
        return newest;
    }
}
