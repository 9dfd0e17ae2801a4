package io.journalq.server.loop;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands work of one loop to threads that may wait for the disk. Any thread. */
public final class BlockingWork {
    private static final Logger log = LoggerFactory.getLogger(BlockingWork.class);

    private final Executor blockingPool;
    private final int loopIndex;

    public BlockingWork(Executor blockingPool, int loopIndex) {
        this.blockingPool = blockingPool;
        this.loopIndex = loopIndex;
    }

    /** Starts {@code work}; false when too much is waiting already. */
    public boolean start(Runnable work) {
        try {
            blockingPool.execute(work);
            return true;
        } catch (RejectedExecutionException overloaded) {
            log.warn("too much work waits for the disk: loop={}", loopIndex);
            return false;
        }
    }
}
