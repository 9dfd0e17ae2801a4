package io.journalq.server.gateway.websocket;

import io.journalq.server.gateway.consume.Start;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.metadata.MetadataImage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * What the client of a WebSocket reads: its topics, and the credit that they share. Some of the topics may be read as a
 * member of a consumer group. On the connection's loop.
 */
final class Subscriptions {
    private static final int MAX_SUBSCRIPTIONS = 64;
    private static final long MAX_CREDIT = 1_000_000_000;

    /** Fetches that are in flight for subscriptions that have ended. */
    private static final int MAX_ABANDONED = 64;

    private final HttpExchange exchange;
    private final Supplier<MetadataImage> images;
    private final boolean batches;
    private final OutgoingMessages out;
    private final Runnable onAbandoned;
    private final Map<String, Subscription> subscriptions = new LinkedHashMap<>();

    /** What is read as a member of a consumer group; null if nothing. */
    private GroupReading group;

    private long credit;
    private int abandoned;

    /**
     * Nothing is read yet.
     *
     * @param images supplies the newest image
     * @param batches whether records are sent as batches
     * @param onAbandoned is called when {@link #hasManyAbandoned} may have changed
     */
    Subscriptions(
            HttpExchange exchange,
            Supplier<MetadataImage> images,
            boolean batches,
            OutgoingMessages out,
            Runnable onAbandoned) {
        this.exchange = exchange;
        this.images = images;
        this.batches = batches;
        this.out = out;
        this.onAbandoned = onAbandoned;
    }

    HttpExchange exchange() {
        return exchange;
    }

    Supplier<MetadataImage> images() {
        return images;
    }

    OutgoingMessages out() {
        return out;
    }

    /** Whether records are sent as batches. */
    boolean sendsBatches() {
        return batches;
    }

    /** Whether no more messages should be read, because many ended subscriptions wait for their fetches. */
    boolean hasManyAbandoned() {
        return abandoned > MAX_ABANDONED;
    }

    /** Runs a message of the client. */
    void run(Command command) {
        switch (command.type()) {
            case "subscribe" -> subscribe(command);
            case "seek" -> seek(command);
            case "ack" -> {
                if (!isGroups(command.needed("topic"))) {
                    throw HttpExchange.invalid(
                            "the topic is not read as a member of a group", "send subscribe with a group first");
                }
                group.ack(command);
            }
            case "unsubscribe" -> unsubscribe(command);
            case "credit" -> {
                command.checkMembers(List.of("records"));
                addCredit(command.number("records"));
            }
            case "pause" -> setPaused(command, true);
            case "resume" -> setPaused(command, false);
            default -> throw Command.invalid("unknown type of message");
        }
    }

    private void subscribe(Command command) {
        String topic = command.needed("topic");
        if (subscriptions.containsKey(topic) || isGroups(topic)) {
            throw HttpExchange.invalid("the topic is subscribed already", "send seek, or unsubscribe first");
        }
        Set<String> all = new HashSet<>(subscriptions.keySet());
        if (group != null) {
            all.addAll(group.topics());
        }
        if (all.size() == MAX_SUBSCRIPTIONS) {
            throw HttpExchange.invalid(
                    "the connection has " + MAX_SUBSCRIPTIONS + " subscriptions", "open another connection");
        }
        Long more = command.number("credit");
        if (command.text("group") == null) {
            List<String> known = new ArrayList<>(List.of("topic", "group", "credit"));
            known.addAll(Start.NAMES);
            command.checkMembers(known);
            begin(start(topic, command), "subscribed", command.id(), false);
        } else {
            joinGroup(command);
        }
        if (more != null) {
            addCredit(more);
        }
    }

    private void joinGroup(Command command) {
        String name = command.text("group");
        if (group != null && group.isEmpty()) {
            group = null;
        }
        if (group != null && !group.name().equals(name)) {
            throw HttpExchange.invalid(
                    "the connection is a member of group " + group.name(), "open another connection for another group");
        }
        GroupReading joined = group == null ? new GroupReading(this, name) : group;
        joined.subscribe(command);
        group = joined;
    }

    private boolean isGroups(String topic) {
        return group != null && group.topics().contains(topic);
    }

    private void unsubscribe(Command command) {
        command.checkMembers(List.of("topic"));
        String topic = command.needed("topic");
        if (isGroups(topic)) {
            group.end(topic);
            drop(topic);
        } else {
            end(subscription(command));
        }
        out.send("unsubscribed", json -> {
            command.id().write(json);
            json.writeStringField("topic", topic);
        });
    }

    private void seek(Command command) {
        if (isGroups(command.needed("topic"))) {
            group.seek(command);
            return;
        }
        List<String> known = new ArrayList<>(List.of("topic"));
        known.addAll(Start.NAMES);
        command.checkMembers(known);
        Subscription before = subscription(command);
        Start start = start(before.topic(), command); // before anything ends
        end(before);
        begin(start, "sought", command.id(), before.isPaused());
    }

    private Start start(String topic, Command command) {
        return Start.of(exchange, topic, command::text, images.get(), Start.END);
    }

    private void begin(Start start, String response, JsonOut.Document id, boolean paused) {
        Subscription subscription = new Subscription(this, start, paused);
        subscriptions.put(start.topic(), subscription);
        subscription.begin(response, id);
    }

    /** Reads a topic from known offsets on, instead of what is read of it now. */
    void replace(Start start, String message, JsonOut.Document id, boolean paused) {
        drop(start.topic());
        Subscription subscription = new Subscription(this, start, paused);
        subscriptions.put(start.topic(), subscription);
        subscription.resume(message, id);
    }

    /** Ends what is read of a topic, if anything is. */
    void drop(String topic) {
        Subscription current = subscriptions.get(topic);
        if (current != null) {
            end(current);
        }
    }

    /** A copy of the next offsets of a topic's partitions; empty if nothing is read. */
    Map<Integer, Long> positions(String topic) {
        Subscription current = subscriptions.get(topic);
        return current == null ? new TreeMap<>() : new TreeMap<>(current.positions());
    }

    private Subscription subscription(Command command) {
        Subscription found = subscriptions.get(command.needed("topic"));
        if (found == null) {
            throw HttpExchange.invalid("the topic is not subscribed", "send subscribe first");
        }
        return found;
    }

    private void setPaused(Command command, boolean paused) {
        command.checkMembers(List.of("topic"));
        String topic = command.text("topic");
        if (group != null) {
            group.setPaused(topic, paused);
        }
        if (topic == null) {
            List.copyOf(subscriptions.values()).forEach(each -> each.setPaused(paused));
        } else if (subscriptions.containsKey(topic) || !isGroups(topic)) {
            subscription(command).setPaused(paused);
        }
    }

    private void addCredit(Long more) {
        if (more == null) {
            throw Command.invalid("the message has no \"records\"");
        }
        credit = Math.min(MAX_CREDIT, credit + more);
        List.copyOf(subscriptions.values()).forEach(Subscription::go);
    }

    /** Records that the client still takes. */
    long credit() {
        return credit;
    }

    /** Records were sent. Batches can use more than is left. */
    void useCredit(long records) {
        credit -= records;
    }

    /** Ends a subscription. */
    private void end(Subscription subscription) {
        subscriptions.remove(subscription.topic(), subscription);
        boolean fetches = subscription.close(() -> {
            abandoned--;
            onAbandoned.run();
        });
        if (fetches) {
            abandoned++;
            onAbandoned.run();
        }
    }

    /** A subscription cannot go on. */
    void fail(Subscription subscription, JsonOut.Document id, Problem problem) {
        end(subscription);
        if (isGroups(subscription.topic())) {
            group.end(subscription.topic());
        }
        out.sendError(id, subscription.topic(), problem);
    }

    /** The connection has ended. */
    void close() {
        if (group != null) {
            group.close();
        }
        subscriptions.values().forEach(each -> each.close(() -> {}));
        subscriptions.clear();
    }
}
