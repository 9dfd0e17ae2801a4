package io.journalq.server.control;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.Set;

/**
 * The files of a process that stops at one of its file operations: half of that operation's data is written, and
 * nothing of any later operation. The results of earlier operations stay, as after a kill.
 */
final class StoppingFileStore {
    private static final Set<String> CHANGES =
            Set.of("write", "truncate", "sync", "replace", "move", "delete", "syncDirectory", "createDirectories");

    private final FileStore real;
    private int stepsLeft;

    /** @param step the operation that is not completed, counted from 1 */
    StoppingFileStore(FileStore real, int step) {
        this.real = real;
        this.stepsLeft = step;
    }

    synchronized boolean stopped() {
        return stepsLeft <= 0;
    }

    FileStore store() {
        return (FileStore) proxy(FileStore.class, (proxy, method, arguments) -> {
            Object result = call(real, method, arguments);
            return result instanceof LogFile file ? file(file) : result;
        });
    }

    private LogFile file(LogFile file) {
        return (LogFile) proxy(LogFile.class, (proxy, method, arguments) -> call(file, method, arguments));
    }

    private static Object proxy(Class<?> type, InvocationHandler handler) {
        return Proxy.newProxyInstance(StoppingFileStore.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private synchronized Object call(Object target, Method method, Object[] arguments) throws Throwable {
        if (CHANGES.contains(method.getName())) {
            stepsLeft--;
            if (stepsLeft == 0 && method.getName().equals("write")) {
                ByteBuffer half = (ByteBuffer) arguments[0];
                half.limit(half.position() + half.remaining() / 2);
                method.invoke(target, arguments);
            }
            if (stepsLeft <= 0) {
                throw new IOException("the process has stopped");
            }
        }
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }
}
