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
 * A load in a process of its own, at the lowest priority but for {@link HostileLoad#isLeast}: clients have machines of their
 * own, and are not to take the broker's processors. Any thread.
 */
public final class HostileProcess implements AutoCloseable {
    private static final int READY_LIMIT_SECONDS = 120;
    private static final Path IDLE_POLICY = Path.of("/usr/bin/chrt");

    /** Only what nobody else wants: with a priority, even the lowest, it would have whole slices of milliseconds. */
    private static final List<String> IDLE = List.of(IDLE_POLICY.toString(), "--idle", "0");

    private static final List<String> LEAST = List.of("nice", "-n", "19");

    /** The Java version from which on code outside of Java is warned of. */
    private static final int WARNS_OF_NATIVE_CODE = 24;

    private final Process process;
    private final CountDownLatch ready = new CountDownLatch(1);
    private volatile long done;

    private HostileProcess(Process process) {
        this.process = process;
    }

    /** Starts it, and waits until the load is there. */
    public static HostileProcess start(HostileLoad load, int port, int count) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (load.isLeast()) {
            command.addAll(Files.isExecutable(IDLE_POLICY) ? IDLE : LEAST);
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (Runtime.version().feature() >= WARNS_OF_NATIVE_CODE) {
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
            throw new IOException("the load " + load + " does not begin");
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
        } catch (IOException ended) {
            throw new UncheckedIOException(ended);
        } finally {
            ready.countDown();
        }
    }

    /** What it has done so far, in its load's unit. */
    public long done() {
        return done;
    }

    public long pid() {
        return process.pid();
    }

    /** Kills it. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
