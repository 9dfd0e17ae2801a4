package io.journalq.server.api;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * Answers that come from several coordinators, in the order of the questions. Any thread.
 *
 * @param <T> an answer
 */
public final class AnswerList<T> {
    private final AtomicReferenceArray<T> answers;
    private final AtomicInteger missing;
    private final Consumer<List<T>> done;

    /** @param done takes all answers, on the thread that brings the last; at once when there are no questions */
    public AnswerList(int count, Consumer<List<T>> done) {
        this.answers = new AtomicReferenceArray<>(count);
        this.missing = new AtomicInteger(count);
        this.done = done;
        if (count == 0) {
            done.accept(List.of());
        }
    }

    /** The answer to the question at {@code index}; once for each. */
    public void set(int index, T answer) {
        answers.set(index, answer);
        if (missing.decrementAndGet() == 0) {
            List<T> all = new ArrayList<>(answers.length());
            for (int i = 0; i < answers.length(); i++) {
                all.add(answers.get(i));
            }
            done.accept(all);
        }
    }
}
