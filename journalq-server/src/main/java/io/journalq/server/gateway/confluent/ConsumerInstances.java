package io.journalq.server.gateway.confluent;

import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Principal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The consumer instances that clients have created at this broker. Any thread. */
public final class ConsumerInstances {
    /** Instances of the broker. */
    static final int MAX_INSTANCES = 1_000;

    /** Instances of one user at one address. */
    static final int MAX_OF_CLIENT = 250;

    private final Supplier<MetadataImage> images;
    private final int timeoutMs;
    private final Map<Key, ConsumerInstance> instances = new HashMap<>();
    private final Map<Client, Integer> byClient = new HashMap<>();
    private boolean closed;

    /** What identifies an instance. */
    record Key(String group, String name) {}

    /**
     * Who has created instances.
     *
     * @param address null if it is not known
     */
    record Client(Principal principal, InetAddress address) {
        static Client of(HttpExchange exchange) {
            SocketAddress address = exchange.remoteAddress();
            return new Client(
                    exchange.principal(), address instanceof InetSocketAddress internet ? internet.getAddress() : null);
        }
    }

    /**
     * There are none yet.
     *
     * @param images supplies the newest image
     * @param timeoutMs time after which an instance that is not used is closed
     */
    public ConsumerInstances(Supplier<MetadataImage> images, int timeoutMs) {
        this.images = images;
        this.timeoutMs = timeoutMs;
    }

    /**
     * Creates an instance, on the loop of the request.
     *
     * @throws ProblemException if there is one of this name, or if there are too many
     */
    synchronized void create(HttpExchange exchange, Key key, ConsumerSettings settings) {
        Client client = Client.of(exchange);
        if (closed) {
            throw new Problem(ProblemType.UNAVAILABLE, "the broker stops", "use another broker").exception();
        }
        if (instances.containsKey(key)) {
            throw new Problem(
                            ProblemType.CONSUMER_EXISTS,
                            "the group has a consumer instance of this name at this broker",
                            "choose another name, or delete the instance")
                    .exception();
        }
        if (instances.size() >= MAX_INSTANCES || byClient.getOrDefault(client, 0) >= MAX_OF_CLIENT) {
            throw new Problem(
                            ProblemType.UNAVAILABLE,
                            "there are " + instances.size() + " consumer instances, and "
                                    + byClient.getOrDefault(client, 0) + " of them belong to this client",
                            "delete instances that are not used: a broker has at most " + MAX_INSTANCES
                                    + ", and a client " + MAX_OF_CLIENT)
                    .exception();
        }
        ConsumerInstance created = new ConsumerInstance(exchange, key, settings, images, timeoutMs, this::remove);
        instances.put(key, created);
        byClient.merge(client, 1, Integer::sum);
    }

    /**
     * The instance of a request.
     *
     * @throws ProblemException if there is none, or if it belongs to another user
     */
    synchronized ConsumerInstance find(HttpExchange exchange, Key key) {
        ConsumerInstance found = instances.get(key);
        if (found == null || !found.client().principal().equals(exchange.principal())) {
            throw unknown().exception();
        }
        return found;
    }

    static Problem unknown() {
        return new Problem(
                ProblemType.UNKNOWN_CONSUMER,
                "this broker has no such consumer instance of this client",
                "use the base_uri of an instance; create a new one if it was not used for a while or if its broker was"
                        + " restarted");
    }

    private synchronized void remove(ConsumerInstance instance) {
        instances.remove(instance.key(), instance);
        byClient.computeIfPresent(instance.client(), (client, count) -> count == 1 ? null : count - 1);
    }

    /** Number of instances. */
    public synchronized int count() {
        return instances.size();
    }

    /** The broker stops: the instances leave their groups, as far as there is time. */
    public void close() {
        List<ConsumerInstance> all;
        synchronized (this) {
            closed = true;
            all = List.copyOf(instances.values());
        }
        all.forEach(ConsumerInstance::expire);
    }
}
