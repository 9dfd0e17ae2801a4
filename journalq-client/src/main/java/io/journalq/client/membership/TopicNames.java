package io.journalq.client.membership;

import io.journalq.client.coordinator.Coordinator;
import io.journalq.client.coordinator.Question;
import io.journalq.client.error.UnsupportedByBrokerException;
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
 * Names of topics that a group assigns by id (KIP-516). Asks for those that are not known; a topic that the broker does not
 * know either is asked for again after a pause, as it may have been created just now. Belongs to the consumer's thread.
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
     * Knows nothing yet.
     *
     * @param onNews runs on the event loop when there is an answer
     */
    TopicNames(Coordinator coordinator, Runnable onNews, long timeoutMs) {
        this.coordinator = coordinator;
        this.onNews = onNews;
        this.timeoutMs = timeoutMs;
    }

    /** A topic's name; null when it is not known. */
    String name(Uuid id) {
        return names.get(id);
    }

    /** Learns the names of these topics, as far as that goes without waiting, and forgets those of others. */
    void learn(Set<Uuid> ids) {
        if (asked != null && asked.isDone()) {
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
            asked = coordinator.ask(new NamesQuestion(missing), timeoutMs);
            var unused = asked.whenComplete((answer, failure) -> onNews.run());
        }
    }

    /** How long to wait before it is worth asking again. */
    long pauseNanos() {
        return Math.max(1, notBeforeNanos - System.nanoTime());
    }

    private void keep(MetadataResponse answer) {
        for (MetadataResponse.MetadataResponseTopic topic : answer.topics()) {
            if (topic.errorCode() == ErrorCode.NONE.code() && topic.name() != null) {
                names.put(topic.topicId(), topic.name());
            }
        }
    }

    private static final class NamesQuestion extends Question<MetadataResponse> {
        private final List<Uuid> ids;

        private NamesQuestion(List<Uuid> ids) {
            super(ApiKey.METADATA, MetadataResponse.class, NEWEST_VERSION, "names of topics");
            this.ids = ids;
        }

        @Override
        protected ApiMessage request(short version) {
            if (version < FIRST_VERSION_BY_ID) {
                throw new UnsupportedByBrokerException("the broker does not tell topics by id; use a newer broker");
            }
            List<MetadataRequest.MetadataRequestTopic> topics = new ArrayList<>();
            ids.forEach(id -> topics.add(
                    new MetadataRequest.MetadataRequestTopic().setTopicId(id).setName(null)));
            return new MetadataRequest().setTopics(topics).setAllowAutoTopicCreation(false);
        }

        @Override
        protected ErrorCode errorOf(MetadataResponse answer) {
            return ErrorCode.NONE;
        }
    }
}
