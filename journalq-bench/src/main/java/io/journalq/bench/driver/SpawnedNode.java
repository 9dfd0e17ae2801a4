package io.journalq.bench.driver;

import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;

/** One process of a broker that this program starts: its ports, its directory and its id. Used by one thread. */
final class SpawnedNode implements AutoCloseable {
    private final int id;
    private final int port = LoopbackPorts.next();
    private final int tlsPort = LoopbackPorts.next();
    private final int rsaPort = LoopbackPorts.next();
    private final int loginPort = LoopbackPorts.next();
    /** At which the processes agree on metadata. */
    private final int quorumPort = LoopbackPorts.next();

    private final int adminPort = LoopbackPorts.next();

    private final ChildProcess process;

    /** {@code name} is that of the broker. */
    SpawnedNode(String name, int id) {
        this.id = id;
        process = new ChildProcess(name);
    }

    int id() {
        return id;
    }

    int tlsPort() {
        return tlsPort;
    }

    /** Of the listener with TLS that has a key of RSA. */
    int rsaPort() {
        return rsaPort;
    }

    int loginPort() {
        return loginPort;
    }

    int quorumPort() {
        return quorumPort;
    }

    int adminPort() {
        return adminPort;
    }

    ChildProcess process() {
        return process;
    }

    Path dataDirectory() {
        return process.directory().resolve("data");
    }

    /** The listeners for clients, as both brokers name them. */
    String listeners(boolean secured) {
        String plain = "PLAINTEXT://localhost:" + port;
        return secured
                ? plain + ",SSL://localhost:" + tlsPort + ",RSA://localhost:" + rsaPort + ",SASL_PLAINTEXT://localhost:"
                        + loginPort
                : plain;
    }

    /** The address for clients, as {@code host:port}. */
    String address(boolean encrypted) {
        return "localhost:" + (encrypted ? tlsPort : port);
    }

    /** Whether the process listens, which a client that finds the port closed would only find out after up to a second. */
    boolean listens(int timeoutMs) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress("localhost", port), timeoutMs);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
