package io.journalq.bench.driver;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.BrokerNode;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** A broker that this program starts in processes of its own, with its data in temporary directories. */
public abstract class SpawnedBroker extends KafkaProtocolBroker {
    /** The protocols of the listeners with TLS and with logins, as both brokers name them. */
    static final String SECURED_LISTENERS = "PLAINTEXT:PLAINTEXT,SSL:SSL,RSA:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT";

    private final ClusterShape shape;
    private final List<SpawnedNode> nodes = new ArrayList<>();
    /** Whether it also has listeners with TLS, and with logins by SCRAM. */
    private boolean secured;

    private boolean encryptsClients;
    private BrokerKeys keys;

    /**
     * Describes a broker; {@link #start} starts it.
     *
     * @param extra settings of the user. Those of {@code owned} differ between the brokers of a cluster and are refused
     */
    SpawnedBroker(ClusterShape shape, boolean secured, Map<String, String> extra, Set<String> owned) {
        this.shape = shape;
        this.secured = secured;
        if (shape.isCluster()) {
            extra.keySet().stream().filter(owned::contains).findFirst().ifPresent(name -> {
                throw BenchException.wrongUsage(
                        "the brokers of a cluster cannot have the same " + name, "leave this --broker-setting out");
            });
        }
    }

    /** How many processes there are, and what they have in common. */
    final ClusterShape shape() {
        return shape;
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

    @Override
    public final void start() {
        for (int id = 1; id <= shape.brokers(); id++) {
            nodes.add(new SpawnedNode(name(), id));
        }
        keys = secured ? new BrokerKeys(first().process().directory().resolve("keys")) : null;
        startNodes(List.copyOf(nodes));
    }

    /** Starts the processes, and returns when they respond. */
    abstract void startNodes(List<SpawnedNode> all);

    /** Null if there are only plain listeners. */
    final BrokerKeys keys() {
        return keys;
    }

    /** The same broker, as clients with TLS see it. It must have been started with these listeners. */
    public final ExternalBroker overTls() {
        return new ExternalBroker(name(), first().address(true), pid(), tls());
    }

    /** How clients with TLS connect. */
    public final ConnectionSecurity tls() {
        return new ConnectionSecurity(keys.authority(), null, null, null);
    }

    /** The listener at which clients log in, without TLS. */
    public final InetSocketAddress loginAddress() {
        return new InetSocketAddress("localhost", first().loginPort());
    }

    /** The listener with TLS. */
    public final InetSocketAddress tlsAddress() {
        return new InetSocketAddress("localhost", first().tlsPort());
    }

    /** The listener with TLS that has a key of RSA with 2,048 bits. */
    public final InetSocketAddress rsaAddress() {
        return new InetSocketAddress("localhost", first().rsaPort());
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

    /**
     * Whether a node responds within {@code timeoutMs}, and knows at least {@code brokers} that are live. Returns at once if
     * nothing listens at its port.
     */
    final boolean responds(SpawnedNode node, int brokers, int timeoutMs) {
        return node.listens(timeoutMs)
                && new TopicAdmin(node.address(encryptsClients), security()).liveBrokers(timeoutMs) >= brokers;
    }

    @Override
    public final String bootstrap() {
        return nodes.stream().map(node -> node.address(encryptsClients)).collect(Collectors.joining(","));
    }

    @Override
    public final long pid() {
        return first().process().pid();
    }

    @Override
    public final List<BrokerNode> nodes() {
        return nodes.stream()
                .map(node -> new BrokerNode(
                        node.process().pid(),
                        node.dataDirectory(),
                        metricsAddress(node).orElse(null)))
                .toList();
    }

    @Override
    public final void writeBack() {
        first().process().writeBack();
    }

    @Override
    public final void settle() {
        ChildProcess.settle(nodes.stream().map(SpawnedNode::process).toList());
    }

    @Override
    public final Optional<Path> dataDirectory() {
        return Optional.of(first().dataDirectory());
    }

    @Override
    public final Optional<String> metricsAddress() {
        return metricsAddress(first());
    }

    /** The {@code host:port} that serves metrics of a node in the Prometheus format; empty if there is none. */
    abstract Optional<String> metricsAddress(SpawnedNode node);

    @Override
    public final void kill(int node) {
        nodes.get(node).process().end(true);
    }

    @Override
    public final void startAgain(int node) {
        nodes.get(node).process().startAgain();
    }

    @Override
    public final double restart(boolean kill) {
        prepareRestart(first(), nodes);
        return first().process().restart(kill);
    }

    /** Changes the files of a node before it is started again. */
    void prepareRestart(SpawnedNode node, List<SpawnedNode> all) {
        // By default, nothing has to change.
    }

    @Override
    public final void freeze() {
        nodes.forEach(node -> node.process().signal("STOP"));
    }

    @Override
    public final void thaw() {
        nodes.forEach(node -> node.process().signal("CONT"));
    }

    private SpawnedNode first() {
        if (nodes.isEmpty()) {
            throw new BenchException(name() + " is not started", "start it first");
        }
        return nodes.get(0);
    }

    @Override
    public void close() {
        super.close();
        if (shape.isCluster()) {
            // The last brokers of a cluster would wait for the others before they stop.
            nodes.forEach(node -> node.process().kill());
        }
        nodes.forEach(SpawnedNode::close);
    }
}
