package io.journalq.bench.jmh;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The minimal work of a journal with mapped windows, for comparison with written files. A window ahead of the writer is
 * allocated by writing zeros, so that a full disk causes an error there, and its pages are then touched. One thread appends;
 * the {@link Preparer} prepares.
 */
final class MappedAppender implements AutoCloseable {
    private static final int PAGE_SIZE_BYTES = 4 << 10;
    private static final long WAIT_NS = 50_000;

    private final FileChannel file;
    private final int windowSizeBytes;
    private final Preparer preparer;
    private MappedByteBuffer window;
    private long windowStart;
    private long position;
    private boolean requested;
    private volatile MappedByteBuffer next;

    /** Prepares the windows of all appenders on its own thread. */
    static final class Preparer implements AutoCloseable {
        private final BlockingQueue<Runnable> requests = new LinkedBlockingQueue<>();
        private final Thread thread = new Thread(this::run, "preparer");

        Preparer() {
            thread.setDaemon(true);
            thread.start();
        }

        private void run() {
            try {
                while (true) {
                    requests.take().run();
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        void request(Runnable work) {
            requests.add(work);
        }

        @Override
        public void close() {
            requests.clear();
            requests.add(thread::interrupt);
            try {
                thread.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    MappedAppender(Path path, int windowSizeBytes, Preparer preparer) throws IOException {
        this.file =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        this.windowSizeBytes = windowSizeBytes;
        this.preparer = preparer;
    }

    /** Copies the batch. Waits if the next window is not prepared yet. */
    void append(ByteBuf batch) {
        int index = batch.readerIndex();
        int left = batch.readableBytes();
        while (left > 0) {
            int at = (int) (position - windowStart);
            if (window == null || at == windowSizeBytes) {
                nextWindow();
                continue;
            }
            int count = Math.min(windowSizeBytes - at, left);
            batch.getBytes(index, window.limit(at + count).position(at));
            index += count;
            left -= count;
            position += count;
            if (!requested && at + count > windowSizeBytes / 2) {
                request(windowStart + windowSizeBytes);
            }
        }
    }

    private void nextWindow() {
        if (window != null) {
            unmap(window);
            window = null;
        }
        if (!requested) {
            request(position);
        }
        while (next == null) {
            LockSupport.parkNanos(WAIT_NS);
        }
        window = next;
        windowStart = position;
        next = null;
        requested = false;
    }

    private void request(long start) {
        requested = true;
        preparer.request(() -> prepare(start));
    }

    private void prepare(long start) {
        try {
            ByteBuffer zeros = ByteBuffer.allocateDirect(PAGE_SIZE_BYTES);
            for (int at = 0; at < windowSizeBytes; at += PAGE_SIZE_BYTES) {
                file.write(zeros.clear(), start + at);
            }
            MappedByteBuffer prepared = file.map(FileChannel.MapMode.READ_WRITE, start, windowSizeBytes);
            for (int at = 0; at < windowSizeBytes; at += PAGE_SIZE_BYTES) {
                prepared.put(at, (byte) 0);
            }
            next = prepared;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() throws IOException {
        if (window != null) {
            unmap(window);
        }
        if (next != null) {
            unmap(next);
        }
        file.close();
    }

    private static void unmap(MappedByteBuffer buffer) {
        try {
            Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
            Field field = unsafeClass.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            Method invokeCleaner = unsafeClass.getMethod("invokeCleaner", ByteBuffer.class);
            invokeCleaner.invoke(field.get(null), buffer);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
