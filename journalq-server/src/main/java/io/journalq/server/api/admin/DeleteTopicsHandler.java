package io.journalq.server.api.admin;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsRequest.DeleteTopicState;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.common.protocol.message.DeleteTopicsResponse.DeletableTopicResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * DeleteTopics, versions 1 to 6: deletes topics by name or, in version 6, by id (KIP-516). The name of a deleted topic
 * can be reused at once. The response is sent with REQUEST_TIMED_OUT after the timeout of the request, while the
 * deletion continues.
 *
 * <p>Internal topics are refused with INVALID_TOPIC_EXCEPTION, the error that Kafka returns when a client appends to
 * them or deletes their records. Kafka 4.3.1 deletes the topics with all committed offsets.
 */
public final class DeleteTopicsHandler implements Handler<DeleteTopicsRequest> {
    private static final short FIRST_VERSION_THAT_KNOWS_DISABLED = 3;
    private static final short FIRST_VERSION_WITH_TOPIC_IDS = 6;

    private final MetadataPublisher metadata;
    private final Controller controller;
    private final boolean enabled;

    /** @param enabled whether topics can be deleted ({@code delete.topic.enable}) */
    public DeleteTopicsHandler(MetadataPublisher metadata, Controller controller, boolean enabled) {
        this.metadata = metadata;
        this.controller = controller;
        this.enabled = enabled;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.DELETE_TOPICS,
                1,
                6,
                AccessRule.asks(Right.DESCRIBE_TOPIC, Right.DELETE_TOPIC, Right.DELETE_ON_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, DeleteTopicsRequest request) {
        if (!enabled) {
            context.respond(disabled(context, request));
            return;
        }
        List<DeletableTopicResult> results = new ArrayList<>();
        List<DeletableTopicResult> pending = new ArrayList<>();
        List<Uuid> ids = new ArrayList<>();
        for (DeletableTopicResult result : wanted(context, request)) {
            results.add(result);
            if (result.errorCode() == ErrorCode.NONE.code()) {
                pending.add(result);
                ids.add(result.topicId());
            }
        }
        DeferredResponse.within(request.timeoutMs(), controller.deleteTopics(ids), context, (outcomes, failure) -> {
            for (int i = 0; i < pending.size(); i++) {
                Outcome outcome = failure != null ? Outcome.of(failure) : outcomes.get(i);
                pending.get(i).setErrorCode(outcome.error().code()).setErrorMessage(outcome.reason());
            }
            return new DeleteTopicsResponse().setResponses(results);
        });
    }

    private DeleteTopicsResponse disabled(RequestContext context, DeleteTopicsRequest request) {
        ErrorCode error = context.apiVersion() < FIRST_VERSION_THAT_KNOWS_DISABLED
                ? ErrorCode.INVALID_REQUEST
                : ErrorCode.TOPIC_DELETION_DISABLED;
        List<DeletableTopicResult> results = wanted(context, request);
        results.forEach(result ->
                result.setErrorCode(error.code()).setErrorMessage("topics cannot be deleted (delete.topic.enable)"));
        return new DeleteTopicsResponse().setResponses(results);
    }

    private List<DeletableTopicResult> wanted(RequestContext context, DeleteTopicsRequest request) {
        List<DeletableTopicResult> wanted = new ArrayList<>();
        Map<Uuid, DeletableTopicResult> deletable = new HashMap<>();
        for (DeletableTopicResult result : named(context, request)) {
            boolean found = result.errorCode() == ErrorCode.NONE.code();
            DeletableTopicResult other = found ? deletable.putIfAbsent(result.topicId(), result) : null;
            if (other == null) {
                wanted.add(result);
            } else {
                other.setErrorCode(ErrorCode.INVALID_REQUEST.code()).setErrorMessage("the topic is named twice");
            }
        }
        return wanted;
    }

    private List<DeletableTopicResult> named(RequestContext context, DeleteTopicsRequest request) {
        return context.apiVersion() >= FIRST_VERSION_WITH_TOPIC_IDS
                ? request.topics().stream().map(topic -> named(context, topic)).toList()
                : request.topicNames().stream()
                        .map(name -> byName(context, name))
                        .toList();
    }

    /** A name and an id could be those of two topics, so that the wrong one would be deleted. */
    private DeletableTopicResult named(RequestContext context, DeleteTopicState topic) {
        boolean hasName = topic.name() != null;
        boolean hasId = !topic.topicId().equals(Uuid.ZERO);
        if (hasName == hasId) {
            return new DeletableTopicResult()
                    .setName(topic.name())
                    .setTopicId(topic.topicId())
                    .setErrorCode(ErrorCode.INVALID_REQUEST.code())
                    .setErrorMessage("a topic to delete is named by either its name or its id");
        }
        return hasName ? byName(context, topic.name()) : byId(context, topic.topicId());
    }

    private static boolean mayDelete(RequestContext context, String topic) {
        return context.grants(Right.DELETE_ON_CLUSTER, AclResourceType.CLUSTER_NAME)
                || context.allows(Right.DELETE_TOPIC, topic);
    }

    private DeletableTopicResult byName(RequestContext context, String name) {
        if (!mayDelete(context, name)) {
            return new DeletableTopicResult()
                    .setName(name)
                    .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial());
        }
        TopicImage topic = metadata.current().topic(name);
        DeletableTopicResult result = new DeletableTopicResult().setName(name);
        return topic == null
                ? result.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code())
                        .setErrorMessage("there is no topic '" + name + "'")
                : checked(result.setTopicId(topic.id()));
    }

    private DeletableTopicResult byId(RequestContext context, Uuid id) {
        TopicImage topic = metadata.current().topic(id);
        if (topic != null && !mayDelete(context, topic.name())) {
            // A client that may not describe the topic does not learn its name.
            return new DeletableTopicResult()
                    .setName(context.sees(Right.DESCRIBE_TOPIC, topic.name()) ? topic.name() : null)
                    .setTopicId(id)
                    .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial());
        }
        DeletableTopicResult result = new DeletableTopicResult().setTopicId(id);
        return topic == null
                ? result.setName(null)
                        .setErrorCode(ErrorCode.UNKNOWN_TOPIC_ID.code())
                        .setErrorMessage("there is no topic of that id")
                : checked(result.setName(topic.name()));
    }

    private static DeletableTopicResult checked(DeletableTopicResult result) {
        return InternalTopics.contains(result.name())
                ? result.setErrorCode(ErrorCode.INVALID_TOPIC_EXCEPTION.code())
                        .setErrorMessage("topic '" + result.name() + "' is internal and cannot be deleted")
                : result;
    }
}
