package io.journalq.chaos.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A hostile load in a process of its own, with the lowest priority if asked for. Real clients run on other machines
 * and do not take processor time from the broker. It is killed when the program is interrupted. Any thread.
 */
public final class HostileProcess implements AutoCloseable {
    private static final int READY_LIMIT_SECONDS = 120;
    private static final Path CHRT = Path.of("/usr/bin/chrt");

    /**
     * Gets a processor only if no other process wants it. Even with the lowest priority, it would get slices of
     * milliseconds.
     */
    private static final List<String> IDLE_PRIORITY = List.of(CHRT.toString(), "--idle", "0");

    private static final List<String> LOWEST_PRIORITY = List.of("nice", "-n", "19");

    /** The first Java version that warns about native code. */
    private static final int FIRST_JAVA_WITH_NATIVE_WARNING = 24;

    private final Process process;
    private final Thread shutdownHook;
    private final CountDownLatch ready = new CountDownLatch(1);
    private volatile long done;
    private volatile boolean closed;

    private HostileProcess(Process process) {
        this.process = process;
        this.shutdownHook = new Thread(process::destroyForcibly, "kill-hostile-load");
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /** Starts the process, and waits until the load has done as much as it has connections or threads. */
    public static HostileProcess start(HostileLoad load, int port, int count, boolean lowestPriority)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (lowestPriority) {
            command.addAll(Files.isExecutable(CHRT) ? IDLE_PRIORITY : LOWEST_PRIORITY);
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (Runtime.version().feature() >= FIRST_JAVA_WITH_NATIVE_WARNING) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of(
                "-Xmx512m",
                "-Xss256k",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
                "-cp",
                System.getProperty("java.class.path"),
                HostileLoad.class.getName(),
                load.name(),
                Integer.toString(port),
                Integer.toString(count)));
        HostileProcess hostile = new HostileProcess(
                new ProcessBuilder(command).redirectErrorStream(true).start());
        Thread reader = new Thread(hostile::read, "hostile-output");
        reader.setDaemon(true);
        reader.start();
        if (!hostile.ready.await(READY_LIMIT_SECONDS, TimeUnit.SECONDS) || !hostile.process.isAlive()) {
            hostile.close();
            throw new IOException("the load " + load + " ended, or did not begin within " + READY_LIMIT_SECONDS
                    + " s; with the lowest priority it does not run on a busy machine");
        }
        return hostile;
    }

    private void read() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals(HostileLoad.READY)) {
                    ready.countDown();
                } else if (line.startsWith(HostileLoad.DID)) {
                    done = Long.parseLong(line.substring(HostileLoad.DID.length()));
                } else {
                    System.out.println("hostile: " + line);
                }
            }
        } catch (IOException failure) {
            // close() kills the process, which closes its output in the middle of a line.
            if (!closed) {
                throw new UncheckedIOException(failure);
            }
        } finally {
            ready.countDown();
        }
    }

    /** What it has done so far, in the load's unit. */
    public long done() {
        return done;
    }

    public long pid() {
        return process.pid();
    }

    /** Kills the process. */
    @Override
    public void close() {
        closed = true;
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException ending) {
            // The hook does the same.
        }
    }
}
