package io.journalq.server.api;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * Collects the results of several coordinators, in the order of the requests to them. Any thread.
 *
 * @param <T> a result
 */
public final class OrderedResults<T> {
    private final AtomicReferenceArray<T> responses;
    private final AtomicInteger missing;
    private final Consumer<List<T>> done;

    /** @param done receives all results, on the thread that sets the last one; immediately if {@code count} is 0 */
    public OrderedResults(int count, Consumer<List<T>> done) {
        this.responses = new AtomicReferenceArray<>(count);
        this.missing = new AtomicInteger(count);
        this.done = done;
        if (count == 0) {
            done.accept(List.of());
        }
    }

    /** Sets the result of the request at {@code index}. Called once for each request. */
    public void set(int index, T response) {
        responses.set(index, response);
        if (missing.decrementAndGet() == 0) {
            List<T> all = new ArrayList<>(responses.length());
            for (int i = 0; i < responses.length(); i++) {
                all.add(responses.get(i));
            }
            done.accept(all);
        }
    }
}
