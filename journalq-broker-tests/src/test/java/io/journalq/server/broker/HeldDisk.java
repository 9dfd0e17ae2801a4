package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Real files. While a test holds the disk, threads that open the directory of a partition wait. */
final class HeldDisk {
    /** The directory of a partition: its topic's id and its number. */
    private static final Pattern PARTITION = Pattern.compile("/[\\w-]{22}-\\d+(/|$)");

    private static final long WAIT_SECONDS = 30;

    private volatile Hold hold = new Hold();

    HeldDisk() {
        release();
    }

    private static final class Hold {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);
    }

    /** From now on, partitions cannot be opened. */
    void hold() {
        hold = new Hold();
    }

    /** Returns once a thread waits. */
    void awaitReached() throws InterruptedException {
        if (!hold.reached.await(WAIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no thread opened a partition");
        }
    }

    void release() {
        hold.released.countDown();
    }

    private static boolean isInPartition(Path path) {
        return PARTITION.matcher(path.toString()).find();
    }

    FileStore store() {
        FileStore real = new SystemFileStore();
        return (FileStore) Proxy.newProxyInstance(
                HeldDisk.class.getClassLoader(), new Class<?>[] {FileStore.class}, (proxy, method, arguments) -> {
                    if (arguments != null && arguments[0] instanceof Path path && isInPartition(path)) {
                        Hold current = hold;
                        current.reached.countDown();
                        current.released.await();
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }
}
