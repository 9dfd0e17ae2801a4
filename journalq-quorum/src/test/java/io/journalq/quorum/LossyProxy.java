package io.journalq.quorum;

import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Passes connections on to a port of this machine. Loses what is sent back if a test says so. */
final class LossyProxy implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 16;

    /** Where the proxy passes connections on to. */
    final int targetPort = LoopbackPorts.next();

    private final ServerSocket listener;
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private volatile boolean losesReplies;
    private volatile int delayMs;

    LossyProxy(int port) throws IOException {
        listener = new ServerSocket(port, 0, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "lossy-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                open.add(client);
                start(() -> pass(client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void pass(Socket client) {
        try (client;
                Socket target = new Socket(InetAddress.getLoopbackAddress(), targetPort)) {
            open.add(target);
            start(() -> copy(target, client, true));
            copy(client, target, false);
        } catch (IOException notListening) {
            // The client notices that its connection is closed.
        }
    }

    private void copy(Socket from, Socket to, boolean replies) {
        byte[] buffer = new byte[BUFFER_BYTES];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int bytes = in.read(buffer); bytes >= 0; bytes = in.read(buffer)) {
                if (replies && delayMs > 0) {
                    Thread.sleep(delayMs);
                }
                if (!replies || !losesReplies) {
                    out.write(buffer, 0, bytes);
                }
            }
        } catch (IOException closed) {
            // So is the other side.
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    /** From now on, what is sent back takes this long. */
    void delayReplies(int milliseconds) {
        delayMs = milliseconds;
    }

    /** From now on, nothing is sent back. */
    void loseReplies() {
        losesReplies = true;
    }

    /** Closes all connections. What is sent back on new ones arrives at once. */
    void reset() {
        open.forEach(LossyProxy::close);
        open.clear();
        losesReplies = false;
        delayMs = 0;
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException unimportant) {
            // It is closed.
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        reset();
    }
}
