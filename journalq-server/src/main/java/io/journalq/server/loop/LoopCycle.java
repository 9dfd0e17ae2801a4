package io.journalq.server.loop;

import io.journalq.common.check.Check;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of an event loop's iteration. The loop first reads all the data that its sockets have, and then runs the
 * registered work in phases:
 * <ol>
 * <li>Journals are written.
 * <li>Parked fetches whose partitions have changed are completed.
 * <li>Work for other loops is handed over, in one task for each target loop. So are the results of work that other
 *     loops have handed over: see {@link HandOverRound}.
 * <li>Each connection that has responses is flushed.
 * </ol>
 *
 * <p>This is the group commit that makes single records cheap: one write for each journal and one for each socket, for
 * any number of requests.
 *
 * <p>One for each event loop. Every method except {@link #execute} and {@link #enqueue} may only be called on that
 * loop.
 */
public final class LoopCycle {
    private static final Logger log = LoggerFactory.getLogger(LoopCycle.class);

    private static final LogThrottle SHORTAGES = new LogThrottle(log, 1);

    private final int index;
    private final Loop loop;
    private final LoopStalls stalls = new LoopStalls();
    private final LoopCounters counters = new LoopCounters();
    private final RequestTimes requestTimes = new RequestTimes();
    private final Phase writes = new Phase();
    private final Phase wakeUps = new Phase();
    private final Phase flushes = new Phase();
    private final HandOver[] handOvers;
    private final HandOver[] handBacks;

    /** What this loop has handed over and has not run the results of, oldest first. */
    private final ArrayDeque<HandOverRound> rounds = new ArrayDeque<>();

    /** What other loops have handed over to this iteration. */
    private final ArrayList<HandOver> received = new ArrayList<>();

    private final Runnable end = this::end;
    private boolean begun;
    private boolean handedOver;
    private boolean handedBack;
    private long begunNanos;

    /** @param loops number of the broker's loops, including this one */
    private LoopCycle(int index, Loop loop, int loops) {
        this.index = index;
        this.loop = loop;
        this.handOvers = new HandOver[loops];
        this.handBacks = new HandOver[loops];
    }

    /** The cycles of {@code loops}, in the same order. */
    public static List<LoopCycle> cycles(List<? extends Loop> loops) {
        LoopCycle[] cycles = new LoopCycle[loops.size()];
        for (int i = 0; i < cycles.length; i++) {
            cycles[i] = new LoopCycle(i, loops.get(i), cycles.length);
        }
        return List.of(cycles);
    }

    /** Index of this loop among the broker's loops, from 0. */
    public int index() {
        return index;
    }

    public Loop loop() {
        return loop;
    }

    /** The counters of the loop. Any thread may read them. */
    public LoopCounters counters() {
        return counters;
    }

    /** The histogram of the loop's iteration times. Any thread. */
    public LoopStalls stalls() {
        return stalls;
    }

    /** The histograms of the times of requests. Any thread may read them. */
    public RequestTimes requestTimes() {
        return requestTimes;
    }

    /** When the work of this iteration began, in the time of {@link Loop#nanoTime}. Called after {@link #begin}. */
    public long begunNanos() {
        return begunNanos;
    }

    /**
     * Counts the time of a request, whose response leaves at the end of this iteration.
     *
     * @param readNanos {@link #begunNanos} of the iteration that read the request
     */
    public void onResponse(short apiId, long readNanos) {
        begin();
        requestTimes.onResponse(apiId, readNanos);
    }

    /** Marks the start of work in this iteration, from which its duration is measured. */
    public void begin() {
        if (!begun) {
            begun = true;
            begunNanos = loop.nanoTime();
            loop.afterIteration(end);
        }
    }

    /** Runs {@code work} in the first phase of this iteration, in which journals are written. */
    public void onWrite(Runnable work) {
        begin();
        writes.add(work);
    }

    /** Runs {@code work} after all journals of this iteration are written. */
    public void onWakeUp(Runnable work) {
        begin();
        wakeUps.add(work);
    }

    /** Runs {@code work} in the last phase of this iteration, in which connections are flushed. */
    public void onFlush(Runnable work) {
        begin();
        flushes.add(work);
    }

    /** Runs {@code work} on another loop. All work for the same loop is handed over in one task for each iteration. */
    public void handOver(LoopCycle target, Runnable work) {
        handedOver = true;
        add(handOvers, target, work);
    }

    /**
     * Runs {@code work} on another loop: a result of what that loop has handed over, or news for it. If the loop has
     * handed work over to this iteration, it gets the results together with those of other loops.
     */
    public void handBack(LoopCycle target, Runnable work) {
        handedBack = true;
        add(handBacks, target, work);
    }

    private void add(HandOver[] byTarget, LoopCycle target, Runnable work) {
        Check.that(loop.inLoop(), "hand-over from a foreign thread");
        begin();
        HandOver handOver = byTarget[target.index];
        if (handOver == null) {
            handOver = new HandOver(target);
            byTarget[target.index] = handOver;
        }
        handOver.work.add(work);
    }

    /**
     * Runs {@code work} on this loop: immediately if the caller is on the loop, else as a task. Any thread.
     *
     * @return false when the loop has stopped and the work will never run
     */
    public boolean execute(Runnable work) {
        if (loop.inLoop()) {
            work.run();
            return true;
        }
        return enqueue(work);
    }

    /**
     * Calls {@code question} on this loop and returns its result, immediately if the caller is on the loop. Any thread.
     *
     * @return fails with the exception of the question, or with a {@link RejectedExecutionException} when the loop has
     *     stopped
     */
    public <T> CompletableFuture<T> ask(Supplier<T> question) {
        CompletableFuture<T> result = new CompletableFuture<>();
        boolean accepted = execute(() -> {
            try {
                result.complete(question.get());
            } catch (RuntimeException | Error failure) {
                result.completeExceptionally(failure);
            }
        });
        if (!accepted) {
            result.completeExceptionally(new RejectedExecutionException("the event loop has stopped"));
        }
        return result;
    }

    /**
     * Runs {@code work} on this loop as a separate task, never immediately. Any thread.
     *
     * @return false when the loop has stopped and the work will never run
     */
    public boolean enqueue(Runnable work) {
        try {
            loop.execute(work);
            return true;
        } catch (RejectedExecutionException stopped) {
            return false;
        }
    }

    /**
     * Runs {@code work} on this loop in another iteration, so that its sockets have their turn before. A task that enqueues
     * itself again can run many times in the same iteration. Any thread.
     */
    public void enqueueForNextIteration(Runnable work) {
        if (loop.inLoop()) {
            loop.afterIteration(() -> enqueue(work));
        } else {
            enqueue(work);
        }
    }

    private void end() {
        if (!rounds.isEmpty()) {
            runOverdueResults();
        }
        do {
            writes.run();
            wakeUps.run();
        } while (!writes.isEmpty());
        if (!received.isEmpty()) {
            completeReceived();
        }
        if (handedBack) {
            handedBack = false;
            send(handBacks, null);
        }
        if (handedOver) {
            sendHandOvers();
        }
        flushes.run();
        long nowNanos = loop.nanoTime();
        stalls.record(nowNanos - begunNanos);
        requestTimes.onIterationEnd(nowNanos);
        begun = false;
        // A flush that resumes a paused connection may have registered new work.
        if (handedOver || handedBack || !writes.isEmpty() || !wakeUps.isEmpty()) {
            begin();
        }
    }

    /** Runs the results that have waited long enough for those of other loops. */
    private void runOverdueResults() {
        for (HandOverRound oldest = rounds.peek();
                oldest != null && oldest.isOver(begunNanos);
                oldest = rounds.peek()) {
            rounds.remove();
            oldest.run();
        }
    }

    /** Completes this loop's part of what other loops have handed over to this iteration. */
    private void completeReceived() {
        for (int i = 0; i < received.size(); i++) {
            HandOver handOver = received.get(i);
            LoopCycle source = handOver.source();
            // If a loop has handed over several times, all results complete the first part.
            HandOver results = handBacks[source.index];
            handBacks[source.index] = null;
            if (handOver.round.complete(results == null ? null : results.work, begunNanos)) {
                pass(source, handOver.round);
            }
        }
        received.clear();
    }

    private void sendHandOvers() {
        handedOver = false;
        int loops = 0;
        for (HandOver handOver : handOvers) {
            loops += handOver == null ? 0 : 1;
        }
        HandOverRound round = new HandOverRound(loops, begunNanos);
        rounds.add(round);
        send(handOvers, round);
    }

    private void send(HandOver[] byTarget, HandOverRound round) {
        for (int target = 0; target < byTarget.length; target++) {
            HandOver handOver = byTarget[target];
            if (handOver != null) {
                byTarget[target] = null;
                handOver.round = round;
                boolean passed = pass(handOver.target, handOver);
                if (!passed && round != null && round.complete(null, begunNanos)) {
                    enqueue(round);
                }
            }
        }
    }

    /** Passes a task to another loop. */
    private boolean pass(LoopCycle target, Runnable task) {
        Check.that(target != this, "hand-over to the same loop");
        counters.onHandOver();
        boolean passed = target.enqueue(task);
        if (!passed) {
            log.debug("loop {} has stopped; a hand-over is dropped", target.index);
        }
        return passed;
    }

    /** Runs all work, also if a part of it fails. */
    static void runAll(List<Runnable> work) {
        for (int i = 0; i < work.size(); i++) {
            runGuarded(work.get(i));
        }
    }

    private static void runGuarded(Runnable work) {
        try {
            work.run();
        } catch (OutOfMemoryError noDirectMemory) {
            // The iteration must complete, or the loop never begins another one.
            SHORTAGES.warn("out of direct memory", "event loop", noDirectMemory.getMessage());
        } catch (RuntimeException | Error failure) {
            // One failed request must not keep the other requests of its iteration from their responses.
            log.error("unexpected failure at the end of an event loop's iteration", failure);
        }
    }

    /** The work of one phase, in order of registration. Work may register more work of the same phase. */
    private static final class Phase {
        private final ArrayList<Runnable> work = new ArrayList<>();

        void add(Runnable item) {
            work.add(item);
        }

        boolean isEmpty() {
            return work.isEmpty();
        }

        void run() {
            for (int i = 0; i < work.size(); i++) {
                runGuarded(work.get(i));
            }
            work.clear();
        }
    }

    /** The work that one iteration hands over to one other loop. */
    private final class HandOver implements Runnable {
        private final LoopCycle target;
        private final List<Runnable> work = new ArrayList<>();

        /** Collects the results; null if this loop waits for none. */
        private HandOverRound round;

        HandOver(LoopCycle target) {
            this.target = target;
        }

        LoopCycle source() {
            return LoopCycle.this;
        }

        /** On the target. */
        @Override
        public void run() {
            if (round != null) {
                target.begin();
                target.received.add(this);
            }
            runAll(work);
        }
    }
}
