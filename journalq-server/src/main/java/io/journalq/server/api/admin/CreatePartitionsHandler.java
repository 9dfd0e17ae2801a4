package io.journalq.server.api.admin;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreatePartitionsRequest;
import io.journalq.common.protocol.message.CreatePartitionsRequest.CreatePartitionsAssignment;
import io.journalq.common.protocol.message.CreatePartitionsRequest.CreatePartitionsTopic;
import io.journalq.common.protocol.message.CreatePartitionsResponse;
import io.journalq.common.protocol.message.CreatePartitionsResponse.CreatePartitionsTopicResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.PartitionsSpec;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * CreatePartitions, versions 0 to 3: increases the number of partitions of topics. It cannot be decreased. The response
 * is sent when the new partitions are served, or with REQUEST_TIMED_OUT after the timeout of the request, while the
 * creation continues.
 */
public final class CreatePartitionsHandler implements Handler<CreatePartitionsRequest> {
    private final MetadataPublisher metadata;
    private final Controller controller;
    private final CreationRefusals refusals;

    public CreatePartitionsHandler(MetadataPublisher metadata, Controller controller, CreationRefusals refusals) {
        this.metadata = metadata;
        this.controller = controller;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.CREATE_PARTITIONS, 0, 3, AccessRule.asks(Right.ALTER_TOPIC));
    }

    @Override
    public void handle(RequestContext context, CreatePartitionsRequest request) {
        List<CreatePartitionsTopicResult> refused = new ArrayList<>();
        List<PartitionsSpec> specs = new ArrayList<>();
        Map<String, Integer> occurrences = new TreeMap<>();
        request.topics().forEach(topic -> occurrences.merge(topic.name(), 1, Integer::sum));
        occurrences.forEach((name, times) -> {
            if (times > 1) {
                refused.add(refused(name, ErrorCode.INVALID_REQUEST, "the topic is named twice"));
            }
        });
        for (CreatePartitionsTopic topic : request.topics()) {
            if (occurrences.get(topic.name()) > 1) {
                continue;
            }
            if (context.allows(Right.ALTER_TOPIC, topic.name())) {
                specs.add(spec(topic));
            } else {
                refused.add(refused(topic.name(), ErrorCode.TOPIC_AUTHORIZATION_FAILED, context.denial()));
            }
        }
        CompletableFuture<List<Outcome>> creation = controller.createPartitions(specs, request.validateOnly());
        DeferredResponse.within(request.timeoutMs(), creation, context, (outcomes, failure) -> {
            List<CreatePartitionsTopicResult> results = new ArrayList<>(refused);
            for (int i = 0; i < specs.size(); i++) {
                Outcome outcome = failure != null ? Outcome.of(failure) : outcomes.get(i);
                report(context, specs.get(i), outcome);
                results.add(new CreatePartitionsTopicResult()
                        .setName(specs.get(i).topic())
                        .setErrorCode(outcome.error().code())
                        .setErrorMessage(outcome.reason()));
            }
            return new CreatePartitionsResponse().setResults(results);
        });
    }

    private static CreatePartitionsTopicResult refused(String topic, ErrorCode error, String reason) {
        return new CreatePartitionsTopicResult()
                .setName(topic)
                .setErrorCode(error.code())
                .setErrorMessage(reason);
    }

    private void report(RequestContext context, PartitionsSpec spec, Outcome outcome) {
        if (outcome.error() != ErrorCode.NONE) {
            TopicImage topic = metadata.current().topic(spec.topic());
            boolean grows =
                    topic != null && spec.newCount() > topic.partitions().size();
            refusals.report(context, spec.topic(), grows ? spec.newCount() : 0, outcome);
        }
    }

    private static PartitionsSpec spec(CreatePartitionsTopic topic) {
        List<List<Integer>> assignments = topic.assignments() == null
                ? List.of()
                : topic.assignments().stream()
                        .map(CreatePartitionsAssignment::brokerIds)
                        .toList();
        return new PartitionsSpec(topic.name(), topic.count(), assignments);
    }
}
