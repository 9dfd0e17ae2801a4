package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Optional;

/** A broker that this program starts in a separate process, with its data in a temporary directory. */
public abstract class SpawnedBroker extends KafkaProtocolBroker {
    private final int port = LoopbackPorts.next();
    /** Whether it also has listeners with TLS, and with logins by SCRAM. */
    private boolean secured;

    private boolean encryptsClients;

    private final int tlsPort = LoopbackPorts.next();
    private final int loginPort = LoopbackPorts.next();
    private BrokerKeys keys;
    private ChildProcess process;

    SpawnedBroker(boolean secured) {
        this.secured = secured;
    }

    /** Lets the clients of this program connect with TLS. Before the broker is started. */
    public final void encryptClients() {
        secured = true;
        encryptsClients = true;
    }

    /** How the clients of this program connect. After the broker was started. */
    @Override
    public final ConnectionSecurity security() {
        return encryptsClients ? tls() : ConnectionSecurity.NONE;
    }

    /** Whether the clients of this program connect with TLS. */
    final boolean encryptsClients() {
        return encryptsClients;
    }

    /** Creates the process for {@link #start}. */
    final ChildProcess newProcess() {
        process = new ChildProcess(name());
        keys = secured ? new BrokerKeys(process.directory().resolve("keys")) : null;
        return process;
    }

    /** Null if there are only plain listeners. */
    final BrokerKeys keys() {
        return keys;
    }

    /** The listeners for clients, as both brokers name them. */
    final String listeners() {
        String plain = "PLAINTEXT://localhost:" + port;
        return secured ? plain + ",SSL://localhost:" + tlsPort + ",SASL_PLAINTEXT://localhost:" + loginPort : plain;
    }

    /** The same broker, as clients with TLS see it. It must have been started with these listeners. */
    public final ExternalBroker overTls() {
        return new ExternalBroker(name(), "localhost:" + tlsPort, pid(), tls());
    }

    /** How clients with TLS connect. */
    public final ConnectionSecurity tls() {
        return new ConnectionSecurity(keys.authority(), null, null, null);
    }

    /** The listener at which clients log in, without TLS. */
    public final InetSocketAddress loginAddress() {
        return new InetSocketAddress("localhost", loginPort);
    }

    /** The listener with TLS. */
    public final InetSocketAddress tlsAddress() {
        return new InetSocketAddress("localhost", tlsPort);
    }

    /** Name and password of the user who can log in. */
    public final Login login() {
        return new Login(BrokerKeys.USER, BrokerKeys.PASSWORD);
    }

    /** Who can log in. */
    public record Login(String user, String password) {
        @Override
        public String toString() {
            return "Login(" + user + ")";
        }
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
        return "localhost:" + (encryptsClients ? tlsPort : port);
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
