package io.journalq.server.loop;

import io.journalq.common.check.Check;
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
 * <li>Work for other loops is handed over, in one task for each target loop.
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
    private final LoopCycle[] peers;
    private final HandOver[] handOvers;
    private final Runnable end = this::end;
    private boolean begun;
    private boolean handedOver;
    private long begunNanos;

    /** @param peers every loop's cycle by index, including this one; filled in before the first hand-over */
    private LoopCycle(int index, Loop loop, LoopCycle[] peers) {
        this.index = index;
        this.loop = loop;
        this.peers = peers;
        this.handOvers = new HandOver[peers.length];
    }

    /** The cycles of {@code loops}, in the same order. */
    public static List<LoopCycle> cycles(List<? extends Loop> loops) {
        LoopCycle[] cycles = new LoopCycle[loops.size()];
        for (int i = 0; i < cycles.length; i++) {
            cycles[i] = new LoopCycle(i, loops.get(i), cycles);
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
        Check.that(loop.inLoop(), "hand-over from a foreign thread");
        begin();
        HandOver handOver = handOvers[target.index];
        if (handOver == null) {
            handOver = new HandOver();
            handOvers[target.index] = handOver;
            handedOver = true;
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

    private void end() {
        do {
            writes.run();
            wakeUps.run();
        } while (!writes.isEmpty());
        if (handedOver) {
            sendHandOvers();
        }
        flushes.run();
        long nowNanos = loop.nanoTime();
        stalls.record(nowNanos - begunNanos);
        requestTimes.onIterationEnd(nowNanos);
        begun = false;
        // A flush that resumes a paused connection may have registered new work.
        if (handedOver || !writes.isEmpty() || !wakeUps.isEmpty()) {
            begin();
        }
    }

    private void sendHandOvers() {
        handedOver = false;
        for (int target = 0; target < handOvers.length; target++) {
            HandOver handOver = handOvers[target];
            if (handOver != null) {
                handOvers[target] = null;
                handOver.send(target);
            }
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
        private final List<Runnable> work = new ArrayList<>();

        void send(int target) {
            Check.that(target != index, "hand-over to the same loop");
            LoopCycle targetCycle = peers[target];
            counters.onHandOver();
            if (!targetCycle.execute(this)) {
                log.debug("loop {} has stopped; {} hand-overs dropped", target, work.size());
            }
        }

        @Override
        public void run() {
            for (int i = 0; i < work.size(); i++) {
                runGuarded(work.get(i));
            }
        }
    }
}
