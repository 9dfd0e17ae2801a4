package io.journalq.server.loop;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Passes operations that may block from one loop to the blocking pool. Any thread. */
public final class BlockingWork {
    private static final Logger log = LoggerFactory.getLogger(BlockingWork.class);

    private final Executor blockingPool;
    private final int loopIndex;

    public BlockingWork(Executor blockingPool, int loopIndex) {
        this.blockingPool = blockingPool;
        this.loopIndex = loopIndex;
    }

    /** Passes {@code work} to the pool; false if the queue of the pool is full. */
    public boolean start(Runnable work) {
        try {
            blockingPool.execute(work);
            return true;
        } catch (RejectedExecutionException overloaded) {
            log.warn("too many operations wait for the disk: loop={}", loopIndex);
            return false;
        }
    }
}
