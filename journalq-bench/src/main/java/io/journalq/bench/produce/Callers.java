package io.journalq.bench.produce;

import io.journalq.bench.BenchException;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;

/** The threads that send, of either kind. They are started together and joined together. One thread. */
public final class Callers {
    /** The first JDK with virtual threads. */
    public static final int VIRTUAL_SINCE = 21;

    private final List<Thread> threads = new ArrayList<>();
    private final boolean virtual;

    Callers(boolean virtual) {
        if (virtual && !virtualThreadsExist()) {
            throw BenchException.wrongUsage(
                    "this JDK " + Runtime.version().feature() + " has no virtual threads",
                    "leave --virtual out, or run on a JDK of " + VIRTUAL_SINCE + " or newer");
        }
        this.virtual = virtual;
    }

    /** Whether this JDK has virtual threads. */
    public static boolean virtualThreadsExist() {
        return Runtime.version().feature() >= VIRTUAL_SINCE;
    }

    void start(String name, Runnable body) {
        Thread thread = virtual ? startVirtual(body) : new Thread(body, name);
        if (!virtual) {
            thread.setDaemon(true);
            thread.start();
        }
        threads.add(thread);
    }

    /** Uses reflection, because the language level is older than virtual threads. */
    private static Thread startVirtual(Runnable body) {
        try {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new BenchException("cannot start a virtual thread", "leave --virtual out", e);
        }
    }

    /** Waits for all threads; returns false if one is still running at the deadline. */
    boolean join(long timeoutMs) throws InterruptedException {
        long deadlineNs = System.nanoTime() + timeoutMs * 1_000_000L;
        for (Thread thread : threads) {
            long leftMs = Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000L);
            thread.join(leftMs);
            if (thread.isAlive()) {
                return false;
            }
        }
        return true;
    }
}
