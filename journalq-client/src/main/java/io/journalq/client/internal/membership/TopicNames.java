package io.journalq.client.internal.membership;

import io.journalq.client.error.UnsupportedByBrokerException;
import io.journalq.client.internal.coordinator.Coordinator;
import io.journalq.client.internal.coordinator.CoordinatorRequest;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Resolves the topic ids that a group assigns to names (KIP-516). If the broker does not know an id, it is asked again
 * after a delay, because the topic may have been created a moment ago. Belongs to the thread of the consumer.
 */
final class TopicNames {
    private static final int NEWEST_VERSION = 13;
    private static final short FIRST_VERSION_BY_ID = 12;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Coordinator coordinator;
    private final Runnable onNews;
    private final long timeoutMs;
    private final Map<Uuid, String> names = new HashMap<>();
    private CompletableFuture<MetadataResponse> asked;
    private long notBeforeNanos = System.nanoTime();

    /**
     * Creates a resolver that knows no names.
     *
     * @param onNews runs on the event loop when a response arrives
     */
    TopicNames(Coordinator coordinator, Runnable onNews, long timeoutMs) {
        this.coordinator = coordinator;
        this.onNews = onNews;
        this.timeoutMs = timeoutMs;
    }

    /** Returns the name of a topic, or null if it is not known. */
    String name(Uuid id) {
        return names.get(id);
    }

    /** Requests the missing names of these topics without waiting, and forgets all other topics. */
    void learn(Set<Uuid> ids) {
        if (hasResponse()) {
            if (!asked.isCompletedExceptionally()) {
                keep(asked.join());
            }
            asked = null;
        }
        names.keySet().retainAll(ids);
        if (names.size() < ids.size() && asked == null && System.nanoTime() - notBeforeNanos >= 0) {
            List<Uuid> missing = new ArrayList<>(ids);
            missing.removeAll(names.keySet());
            notBeforeNanos = System.nanoTime() + PAUSE_NANOS;
            asked = coordinator.ask(new NamesRequest(missing), timeoutMs);
            var unused = asked.whenComplete((response, failure) -> onNews.run());
        }
    }

    /** Whether a response has arrived that {@link #learn} has not read. */
    boolean hasResponse() {
        return asked != null && asked.isDone();
    }

    /** Returns the delay before the next request. While one is in progress, only its end matters. */
    long pauseNanos() {
        return asked == null ? Math.max(1, notBeforeNanos - System.nanoTime()) : Long.MAX_VALUE;
    }

    private void keep(MetadataResponse response) {
        for (MetadataResponse.MetadataResponseTopic topic : response.topics()) {
            if (topic.errorCode() == ErrorCode.NONE.code() && topic.name() != null) {
                names.put(topic.topicId(), topic.name());
            }
        }
    }

    private static final class NamesRequest extends CoordinatorRequest<MetadataResponse> {
        private final List<Uuid> ids;

        private NamesRequest(List<Uuid> ids) {
            super(ApiKey.METADATA, MetadataResponse.class, NEWEST_VERSION, "names of topics");
            this.ids = ids;
        }

        @Override
        protected ApiMessage request(short version) {
            if (version < FIRST_VERSION_BY_ID) {
                throw new UnsupportedByBrokerException(
                        "the broker does not support lookups by topic id; use a newer broker");
            }
            List<MetadataRequest.MetadataRequestTopic> topics = new ArrayList<>();
            ids.forEach(id -> topics.add(
                    new MetadataRequest.MetadataRequestTopic().setTopicId(id).setName(null)));
            return new MetadataRequest().setTopics(topics).setAllowAutoTopicCreation(false);
        }

        @Override
        protected ErrorCode errorOf(MetadataResponse response) {
            return ErrorCode.NONE;
        }
    }
}
