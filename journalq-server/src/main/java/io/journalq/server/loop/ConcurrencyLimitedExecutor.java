package io.journalq.server.loop;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on the threads of another executor, but only a limited number at the same time. It is for tasks that need
 * a processor rather than wait for a disk: more of them than there are processors would only delay other threads,
 * including the JIT compiler. Any thread.
 */
public final class ConcurrencyLimitedExecutor implements Executor {
    private static final Logger log = LoggerFactory.getLogger(ConcurrencyLimitedExecutor.class);

    private static final int MAX_WAITING = 1_000_000;

    private final Executor wide;
    private final int width;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int running;

    /** Runs at most {@code width} tasks on the threads of {@code wide} at the same time. */
    public ConcurrencyLimitedExecutor(Executor wide, int width) {
        this.wide = wide;
        this.width = width;
    }

    /** @throws RejectedExecutionException when too many tasks wait, or the other executor rejects the task */
    @Override
    public synchronized void execute(Runnable work) {
        if (running == width) {
            if (waiting.size() == MAX_WAITING) {
                throw new RejectedExecutionException("too many tasks wait for a thread");
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
            } catch (RuntimeException | Error defect) {
                // The tasks that wait behind it must still run.
                log.error("unexpected failure of a task off the event loops", defect);
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
