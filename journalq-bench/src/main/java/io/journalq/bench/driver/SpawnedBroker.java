package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Optional;

/** A broker that this program starts in a separate process, with its data in a temporary directory. */
abstract class SpawnedBroker extends KafkaProtocolBroker {
    private final int port = ChildProcess.freePort();
    private ChildProcess process;

    /** Creates the process for {@link #start}. */
    final ChildProcess newProcess() {
        process = new ChildProcess(name());
        return process;
    }

    final int port() {
        return port;
    }

    /** Whether the broker responds within {@code timeoutMs}. Returns at once if nothing listens at its port. */
    final boolean responds(int timeoutMs) {
        // A client that finds the port closed waits up to a second before it tries again.
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("localhost", port), timeoutMs);
        } catch (IOException e) {
            return false;
        }
        return admin().responds(timeoutMs);
    }

    @Override
    public final String bootstrap() {
        return "localhost:" + port;
    }

    @Override
    public final long pid() {
        return process().pid();
    }

    @Override
    public final void writeBack() {
        process().writeBack();
    }

    @Override
    public final void settle() {
        process().settle();
    }

    @Override
    public final Optional<Path> dataDirectory() {
        return Optional.of(process().directory().resolve("data"));
    }

    @Override
    public final double restart(boolean kill) {
        prepareRestart(process().directory());
        return process().restart(kill);
    }

    /** Changes files in {@code directory} before the process is started again. */
    void prepareRestart(Path directory) {
        // By default, nothing has to change.
    }

    @Override
    public final void freeze() {
        process().signal("STOP");
    }

    @Override
    public final void thaw() {
        process().signal("CONT");
    }

    private ChildProcess process() {
        if (process == null) {
            throw new BenchException(name() + " is not started", "start it first");
        }
        return process;
    }

    @Override
    public void close() {
        super.close();
        if (process != null) {
            process.close();
        }
    }
}
