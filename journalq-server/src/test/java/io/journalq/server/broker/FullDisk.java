package io.journalq.server.broker;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;

/** Real files on a disk that a test fills up and empties again, or that stops to sync. */
public final class FullDisk {
    public volatile boolean full;
    volatile boolean syncFails;

    /** The files on this disk. */
    public FileStore store() {
        FileStore real = new SystemFileStore();
        return (FileStore) Proxy.newProxyInstance(
                FullDisk.class.getClassLoader(), new Class<?>[] {FileStore.class}, (proxy, method, arguments) -> {
                    try {
                        Object result = method.invoke(real, arguments);
                        return result instanceof LogFile file ? new File(file) : result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
    }

    private final class File implements LogFile {
        private final LogFile real;

        File(LogFile real) {
            this.real = real;
        }

        @Override
        public long sizeBytes() throws IOException {
            return real.sizeBytes();
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            if (full) {
                throw new IOException("No space left on device");
            }
            real.write(source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            return real.read(target, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            real.truncate(sizeBytes);
        }

        @Override
        public void sync() throws IOException {
            if (syncFails) {
                throw new IOException("Input/output error");
            }
            real.sync();
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return real.region(position, sizeBytes, onRelease);
        }

        @Override
        public void close() throws IOException {
            real.close();
        }
    }
}
