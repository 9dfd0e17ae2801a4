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
 * The end of an event loop's iteration. A loop reads all that its sockets have, then runs what was registered
 * meanwhile: first journals are written, then parked fetches that got news are completed, then everything for other
 * loops is handed over, one task per target, and last each connection with answers is flushed. This is the group
 * commit that makes single messages cheap: one write per journal and one per socket for any number of requests.
 *
 * <p>One per event loop. Every method but {@link #execute} and {@link #enqueue} is for that loop's thread only.
 */
public final class LoopCycle {
    private static final Logger log = LoggerFactory.getLogger(LoopCycle.class);

    private static final LogThrottle SHORTAGES = new LogThrottle(log, 1);

    private final int index;
    private final Loop loop;
    private final LoopStalls stalls = new LoopStalls();
    private final LoopCounters counters = new LoopCounters();
    private final Phase writes = new Phase();
    private final Phase wakeUps = new Phase();
    private final Phase flushes = new Phase();
    private final LoopCycle[] peers;
    private final HandOver[] handOvers;
    private final Runnable end = this::end;
    private boolean begun;
    private boolean handedOver;
    private long begunNanos;

    /** @param peers every loop's cycle by index, this one among them; filled in before the first hand-over */
    private LoopCycle(int index, Loop loop, LoopCycle[] peers) {
        this.index = index;
        this.loop = loop;
        this.peers = peers;
        this.handOvers = new HandOver[peers.length];
    }

    /** The cycles of {@code loops}, in their order. */
    public static List<LoopCycle> cycles(List<? extends Loop> loops) {
        LoopCycle[] cycles = new LoopCycle[loops.size()];
        for (int i = 0; i < cycles.length; i++) {
            cycles[i] = new LoopCycle(i, loops.get(i), cycles);
        }
        return List.of(cycles);
    }

    /** Position of this loop among the broker's loops, from 0. */
    public int index() {
        return index;
    }

    public Loop loop() {
        return loop;
    }

    /** What the loop did. Any thread may read. */
    public LoopCounters counters() {
        return counters;
    }

    /** How long the loop's iterations took. Any thread. */
    public LoopStalls stalls() {
        return stalls;
    }

    /** Marks that this iteration has work, so that its length is measured from here. */
    public void begin() {
        if (!begun) {
            begun = true;
            begunNanos = loop.nanoTime();
            loop.afterIteration(end);
        }
    }

    /** Runs {@code work} in this iteration's first phase, in which journals are written. */
    public void onWrite(Runnable work) {
        begin();
        writes.add(work);
    }

    /** Runs {@code work} once all journals of this iteration are written. */
    public void onWakeUp(Runnable work) {
        begin();
        wakeUps.add(work);
    }

    /** Runs {@code work} in this iteration's last phase, in which connections are flushed. */
    public void onFlush(Runnable work) {
        begin();
        flushes.add(work);
    }

    /** Runs {@code work} on another loop; everything for the same loop in one iteration travels together. */
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
     * Runs {@code work} on this loop: at once when called on it, else as a task. Any thread.
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
     * Has the loop answer {@code question}, at once when called on it. Any thread.
     *
     * @return fails with what the question throws, or with a {@link RejectedExecutionException} when the loop has stopped
     */
    public <T> CompletableFuture<T> ask(Supplier<T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        boolean accepted = execute(() -> {
            try {
                answer.complete(question.get());
            } catch (RuntimeException | Error failure) {
                answer.completeExceptionally(failure);
            }
        });
        if (!accepted) {
            answer.completeExceptionally(new RejectedExecutionException("the event loop has stopped"));
        }
        return answer;
    }

    /**
     * Runs {@code work} on this loop as a task of its own, never at once. Any thread.
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
        stalls.record(loop.nanoTime() - begunNanos);
        begun = false;
        // A flush that lets a paused connection go on may have begun new work.
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
            // The iteration must come to its end, or the loop never begins another.
            SHORTAGES.warn("out of direct memory", "event loop", noDirectMemory.getMessage());
        } catch (RuntimeException | Error failure) {
            // One broken request must not keep the others of its iteration from their responses.
            log.error("unexpected failure at the end of an event loop's iteration", failure);
        }
    }

    /** Work of one phase, in order of registration; work may register more of the same phase. */
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

    /** What one iteration sends to one other loop. */
    private final class HandOver implements Runnable {
        private final List<Runnable> work = new ArrayList<>();

        void send(int target) {
            Check.that(target != index, "hand-over to the same loop");
            LoopCycle targetCycle = peers[target];
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
