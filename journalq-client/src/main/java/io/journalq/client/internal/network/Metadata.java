package io.journalq.client.internal.network;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.InterruptedWaitException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.RequestTimedOutException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Maintains the {@link ClusterView} of the topics that the client uses. Requests it when a topic is new, when an error
 * shows that it is outdated, and when it exceeds its maximum age. Belongs to the event loop, except for methods that
 * say otherwise.
 */
public final class Metadata {
    /** How long a lookup of an unknown topic is retried, because the topic may have been created a moment ago. */
    private static final long UNKNOWN_TOPIC_PATIENCE_MS = 1_500;

    /** The interval in which a topic that does not exist is looked up again. */
    private static final long UNKNOWN_TOPIC_RECHECK_NANOS = FailureLog.INTERVAL_NANOS;

    private static final short FIRST_VERSION_WITH_AUTO_CREATION = 4;

    private final Cluster cluster;
    private final ClientConfig config;
    private final Cluster.Listener listener;
    /** The topics whose partitions are used. */
    private final Set<String> topics = new HashSet<>();
    /** Those of them that are fetched. */
    private final Set<String> tracked = new HashSet<>();
    /** The topics that only have to exist, because the group assigns their partitions. */
    private Set<String> subscribed = Set.of();

    private final List<CompletableFuture<ClusterView>> waiters = new ArrayList<>();
    private volatile ClusterView view = ClusterView.EMPTY;
    private boolean autoCreate;
    private boolean inFlight;
    private boolean wanted;
    private int failedTries;
    private long nextTryNanos = System.nanoTime();
    private long updatedNanos = System.nanoTime();
    private JournalQException closed;

    Metadata(Cluster cluster, ClientConfig config, Cluster.Listener listener) {
        this.cluster = cluster;
        this.config = config;
        this.listener = listener;
    }

    /** The current view. Any thread. */
    public ClusterView view() {
        return view;
    }

    /** Allows the broker to create missing topics, if it is configured to do so. Called before the first request. */
    public void allowAutoCreation() {
        autoCreate = true;
    }

    /**
     * Waits until the metadata of a topic is known. Any thread except the event loop.
     *
     * @throws JournalQException if the topic does not exist, or no broker responds in time
     */
    public ClusterView.Topic awaitTopic(String topic, long timeoutMs) {
        if (!isWritable(topic)) {
            throw failure(topic, ErrorCode.INVALID_TOPIC_EXCEPTION);
        }
        long startNanos = System.nanoTime();
        while (true) {
            ClusterView now = view;
            ClusterView.Topic known = now.topics().get(topic);
            if (known != null) {
                return known;
            }
            ErrorCode error = now.errors().get(topic);
            long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
            if (error != null) {
                failIfHopeless(topic, error, elapsedMs);
            }
            awaitUpdate(topic, timeoutMs - elapsedMs);
        }
    }

    /**
     * Waits until the metadata of the topic of a partition are known, and contain the partition, which may have been
     * added a moment ago. Any thread except the event loop.
     *
     * @throws JournalQException if the topic or the partition does not exist, or no broker responds in time
     */
    public ClusterView.Topic awaitPartition(TopicPartition partition, long timeoutMs) {
        long startNanos = System.nanoTime();
        while (true) {
            long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
            ClusterView.Topic known = awaitTopic(partition.topic(), Math.max(1, timeoutMs - elapsedMs));
            if (partition.partition() >= 0 && partition.partition() < known.partitionCount()) {
                return known;
            }
            if (partition.partition() < 0 || elapsedMs >= UNKNOWN_TOPIC_PATIENCE_MS) {
                throw known.noPartition(partition.partition());
            }
            awaitUpdate(partition.topic(), timeoutMs - elapsedMs);
        }
    }

    /**
     * Like {@link #awaitTopic}, but asks a broker in any case: metadata of a topic that is not read are not kept up to
     * date.
     */
    public ClusterView.Topic refreshTopic(String topic, long timeoutMs) {
        long startNanos = System.nanoTime();
        if (isWritable(topic)) {
            awaitUpdate(topic, timeoutMs);
        }
        long elapsedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
        return awaitTopic(topic, Math.max(1, timeoutMs - elapsedMs));
    }

    /**
     * Requests the metadata of a topic, or of all tracked topics if {@code topic} is null. Returns the resulting view.
     * Any thread.
     */
    public CompletableFuture<ClusterView> update(String topic) {
        CompletableFuture<ClusterView> result = new CompletableFuture<>();
        cluster.execute(() -> {
            if (closed != null) {
                result.completeExceptionally(closed);
                return;
            }
            if (topic != null && topics.add(topic)) {
                // This is the first request for the topic, so there is no backoff.
                nextTryNanos = System.nanoTime();
            }
            waiters.add(result);
            requestUpdate();
        });
        return result;
    }

    /** Requests the metadata soon, because it has proven to be outdated. */
    public void requestUpdate() {
        wanted = true;
        tryUpdate(System.nanoTime());
    }

    /** Adds a topic whose metadata is kept up to date. */
    public void track(String topic) {
        tracked.add(topic);
        topics.add(topic);
    }

    /** Removes a topic whose metadata was kept up to date. It may no longer exist. */
    public void untrack(String topic) {
        tracked.remove(topic);
        topics.remove(topic);
    }

    /** Sets the topics of a subscription. If one of them does not exist, the failure log says so. */
    public void subscribe(Set<String> names) {
        subscribed = Set.copyOf(names);
        if (!subscribed.isEmpty()) {
            requestUpdate();
        }
    }

    void onTick(long nowNanos) {
        long maxAgeNanos = TimeUnit.MILLISECONDS.toNanos(config.metadataMaxAgeMs());
        // Also without topics: all brokers that are known may be replaced one after the other.
        if (nowNanos - updatedNanos > maxAgeNanos) {
            wanted = true;
        }
        if (nowNanos - updatedNanos > UNKNOWN_TOPIC_RECHECK_NANOS
                && view.errors().keySet().stream().anyMatch(this::isUsed)) {
            wanted = true;
        }
        tryUpdate(nowNanos);
    }

    private boolean isUsed(String topic) {
        return topics.contains(topic) || subscribed.contains(topic);
    }

    void close(JournalQException cause) {
        closed = cause;
        failWaiters(cause);
    }

    /** Whether a request can contain the name. If not, no broker has the topic, and other topics must not suffer. */
    private static boolean isWritable(String topic) {
        return ByteBufUtil.utf8MaxBytes(topic) <= MessageReader.MAX_STRING_SIZE_BYTES
                || ByteBufUtil.utf8Bytes(topic) <= MessageReader.MAX_STRING_SIZE_BYTES;
    }

    private void awaitUpdate(String topic, long leftMs) {
        if (leftMs <= 0) {
            throw new RequestTimedOutException("no broker sent the metadata of topic " + topic
                    + " in time; check that a broker runs at " + config.bootstrapServers() + ", or raise callTimeout");
        }
        try {
            cluster.waits().get(update(topic), leftMs);
        } catch (TimeoutException e) {
            JournalQException cause = cluster.noBroker();
            throw new RequestTimedOutException(
                    "no broker sent the metadata of topic " + topic + " in time: " + cause.getMessage(), cause);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof ClientClosedException || Cluster.isConfigurationFailure(e.getCause())) {
                throw (JournalQException) e.getCause();
            }
            // All other failures are retried until the timeout.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedWaitException("interrupted while waiting for the metadata of topic " + topic, e);
        }
    }

    private void failIfHopeless(String topic, ErrorCode error, long elapsedMs) {
        if (isUnknown(error) ? elapsedMs < UNKNOWN_TOPIC_PATIENCE_MS : error.retriable()) {
            return;
        }
        // The application learns it from the exception, and the topic is looked up again when it is used again.
        cluster.execute(() -> {
            if (!tracked.contains(topic)) {
                topics.remove(topic);
            }
        });
        JournalQException failure = failure(topic, error);
        if (autoCreate && isUnknown(error)) {
            cluster.failureLog().report(FailureLog.Cause.UNKNOWN_TOPIC, topic, failure);
        }
        throw failure;
    }

    private static boolean isUnknown(ErrorCode error) {
        return error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION || error == ErrorCode.UNKNOWN_TOPIC_ID;
    }

    private static JournalQException failure(String topic, ErrorCode error) {
        return isUnknown(error)
                ? new UnknownTopicException("topic " + topic + " does not exist; create it, or check its name")
                : Errors.of(error, "topic " + topic, null);
    }

    /** A missing topic that the broker may be creating for this client is reported by {@link #failIfHopeless}. */
    private void report(String topic, ErrorCode error, boolean wasKnown) {
        if (error == ErrorCode.INVALID_TOPIC_EXCEPTION || (isUnknown(error) && (wasKnown || !autoCreate))) {
            cluster.failureLog().report(FailureLog.Cause.UNKNOWN_TOPIC, topic, failure(topic, error));
        } else {
            cluster.failureLog().reportIfRefused("topic " + topic, failure(topic, error));
        }
    }

    private void tryUpdate(long nowNanos) {
        if (!wanted || inFlight || closed != null || nowNanos - nextTryNanos < 0) {
            return;
        }
        BrokerConnection connection = cluster.anyConnection();
        if (connection == null) {
            // All connections have just failed; the tick retries.
            return;
        }
        wanted = false;
        inFlight = true;
        connection.send(new MetadataCall());
        connection.flush();
    }

    private void pause() {
        failedTries++;
        nextTryNanos = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(config.retryBackoff().delayMs(failedTries));
    }

    /** Fails the calls that wait for metadata. */
    void failWaiters(JournalQException cause) {
        List<CompletableFuture<ClusterView>> failed = List.copyOf(waiters);
        waiters.clear();
        failed.forEach(waiter -> waiter.completeExceptionally(cause));
    }

    /**
     * A broker that refuses requests for a partition names the leader (KIP-951). Changes the view if that leader is newer
     * than the one of the view, and its address is known.
     *
     * @param leader negative if the response names none
     * @param address of the leader; null if the response does not contain it
     */
    public void onNamedLeader(String topic, int partition, int leader, int leaderEpoch, HostAndPort address) {
        if (leader < 0) {
            return;
        }
        ClusterView.Topic known = view.topics().get(topic);
        boolean exists = known != null && partition >= 0 && partition < known.partitionCount();
        boolean reachable = address != null || view.brokers().containsKey(leader);
        if (exists && reachable && leaderEpoch > known.leaderEpochs()[partition]) {
            view = view.withLeader(known, partition, leader, leaderEpoch, address);
            listener.onView(view);
        }
    }

    private void accept(MetadataResponse response) {
        Map<Integer, HostAndPort> brokers = new HashMap<>();
        for (MetadataResponse.MetadataResponseBroker broker : response.brokers()) {
            brokers.put(broker.nodeId(), new HostAndPort(broker.host(), broker.port()));
        }
        ClusterView old = view;
        Map<String, ClusterView.Topic> known = new HashMap<>(old.topics());
        Map<String, ErrorCode> errors = new HashMap<>();
        boolean complete = true;
        for (MetadataResponse.MetadataResponseTopic topic : response.topics()) {
            ErrorCode error = ErrorCode.of(topic.errorCode());
            if (error == ErrorCode.NONE) {
                ClusterView.Topic current = ClusterView.Topic.of(topic, known.get(topic.name()));
                known.put(topic.name(), current);
                keepAddresses(current, brokers);
                complete &= hasLeaders(current);
            } else {
                errors.put(topic.name(), error);
                report(topic.name(), error, known.containsKey(topic.name()));
                complete &= !error.retriable();
                if (!error.retriable() || error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) {
                    known.remove(topic.name());
                }
            }
        }
        updatedNanos = System.nanoTime();
        if (complete) {
            failedTries = 0;
            nextTryNanos = updatedNanos
                    + TimeUnit.MILLISECONDS.toNanos(config.retryBackoff().initialMs());
        } else {
            pause();
            wanted = wanted || errors.isEmpty();
        }
        view = new ClusterView(
                response.clusterId(),
                response.controllerId(),
                Map.copyOf(brokers),
                Map.copyOf(known),
                Map.copyOf(errors));
    }

    /** A leader that the responding broker does not know yet keeps its address. */
    private void keepAddresses(ClusterView.Topic topic, Map<Integer, HostAndPort> brokers) {
        for (int leader : topic.leaders()) {
            HostAndPort address = view.brokers().get(leader);
            if (address != null) {
                brokers.putIfAbsent(leader, address);
            }
        }
    }

    private static boolean hasLeaders(ClusterView.Topic topic) {
        for (int leader : topic.leaders()) {
            if (leader < 0) {
                return false;
            }
        }
        return true;
    }

    /** Requests the tracked topics. If there are none, requests only the brokers. */
    private final class MetadataCall extends Call {
        private final List<CompletableFuture<ClusterView>> served = List.copyOf(waiters);

        private MetadataCall() {
            super(ApiKey.METADATA, config.requestTimeoutMs());
            waiters.clear();
        }

        @Override
        protected ApiMessage request(short version) {
            List<MetadataRequest.MetadataRequestTopic> asked = new ArrayList<>();
            Set<String> names = new LinkedHashSet<>(topics);
            names.addAll(subscribed);
            for (String topic : names) {
                if (isWritable(topic)) {
                    asked.add(new MetadataRequest.MetadataRequestTopic().setName(topic));
                }
            }
            MetadataRequest request = new MetadataRequest().setTopics(asked);
            return version < FIRST_VERSION_WITH_AUTO_CREATION ? request : request.setAllowAutoTopicCreation(autoCreate);
        }

        @Override
        protected void onResponse(ApiMessage response, ByteBuf frame, short version) {
            inFlight = false;
            accept((MetadataResponse) response);
            cluster.leaveOldAddresses();
            listener.onView(view);
            served.forEach(waiter -> waiter.complete(view));
            if (!waiters.isEmpty()) {
                wanted = true;
            }
        }

        @Override
        protected void onFailure(JournalQException cause) {
            inFlight = false;
            wanted = closed == null;
            waiters.addAll(served);
            pause();
            if (!cause.retriable()) {
                failWaiters(cause);
            }
        }
    }
}
