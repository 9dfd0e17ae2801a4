package io.journalq.server.loop;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work on another executor's threads, only so much of it at the same time: for work that needs processors rather than
 * waits for a disk. More of that at once than there are processors only keeps the others, Java's compiler among them, from
 * getting on. Any thread.
 */
public final class NarrowExecutor implements Executor {
    private static final Logger log = LoggerFactory.getLogger(NarrowExecutor.class);

    private static final int MAX_WAITING = 1_000_000;

    private final Executor wide;
    private final int width;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int running;

    /** Runs at most {@code width} pieces of work on the threads of {@code wide} at the same time. */
    public NarrowExecutor(Executor wide, int width) {
        this.wide = wide;
        this.width = width;
    }

    /** @throws RejectedExecutionException when too much waits already, or the other executor takes nothing */
    @Override
    public synchronized void execute(Runnable work) {
        if (running == width) {
            if (waiting.size() == MAX_WAITING) {
                throw new RejectedExecutionException("too much waits for a thread");
            }
            waiting.add(work);
            return;
        }
        running++;
        try {
            wide.execute(() -> runAll(work));
        } catch (RejectedExecutionException refused) {
            running--;
            throw refused;
        }
    }

    private void runAll(Runnable first) {
        for (Runnable work = first; work != null; work = next()) {
            try {
                work.run();
            } catch (RuntimeException defect) {
                // What waits behind it must not wait for ever.
                log.error("unexpected failure of work off the loops", defect);
            }
        }
    }

    private synchronized Runnable next() {
        Runnable work = waiting.poll();
        if (work == null) {
            running--;
        }
        return work;
    }
}
