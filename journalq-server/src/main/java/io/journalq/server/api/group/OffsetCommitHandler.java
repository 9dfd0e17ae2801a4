package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.OffsetCommitRequest;
import io.journalq.common.protocol.message.OffsetCommitResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.CommittedOffsets;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/**
 * OffsetCommit, versions 2 to 10: a member of a group, or a client that assigns its own partitions, commits offsets.
 * Topics are named up to version 9, and identified by id in version 10 (KIP-848, KIP-516). Offsets are kept for {@code
 * offsets.retention.minutes}, even if an old client requests another time.
 */
public final class OffsetCommitHandler implements Handler<OffsetCommitRequest> {
    private static final short FIRST_VERSION_WITH_TOPIC_IDS = 10;

    private final Coordinators<GroupMachine> groups;
    private final Supplier<MetadataImage> images;
    private final GroupRefusals refusals;

    /**
     * Creates the handler.
     *
     * @param images supplies the newest image
     * @param refusals logs requests that exceed limits
     */
    public OffsetCommitHandler(
            Coordinators<GroupMachine> groups, Supplier<MetadataImage> images, GroupRefusals refusals) {
        this.groups = groups;
        this.images = images;
        this.refusals = refusals;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.OFFSET_COMMIT, 2, 10, AccessRule.asks(Right.READ_GROUP, Right.READ_TOPIC));
    }

    @Override
    public void handle(RequestContext context, OffsetCommitRequest request) {
        ErrorCode refusal = context.allows(Right.READ_GROUP, request.groupId())
                ? ErrorCode.NONE
                : ErrorCode.GROUP_AUTHORIZATION_FAILED;
        List<CommittedOffsets.Commit> commits = new ArrayList<>();
        List<OffsetCommitResponse.OffsetCommitResponsePartition> committed = new ArrayList<>();
        OffsetCommitResponse response = prepare(context, request, refusal, commits, committed);
        if (commits.isEmpty()) {
            context.respond(response);
            return;
        }
        CommittedOffsets.Committer committer = new CommittedOffsets.Committer(
                request.memberId(), request.groupInstanceId(), request.generationIdOrMemberEpoch());
        groups.submit(
                request.groupId(),
                (machine, nowMs, replies) -> machine.onOffsetCommit(
                        request.groupId(),
                        committer,
                        commits,
                        nowMs,
                        replies.to(
                                outcomes -> {
                                    refusals.report(context, request.groupId(), outcomes);
                                    respond(context, response, committed, outcomes);
                                },
                                error -> respond(context, response, committed, all(error, commits)))),
                error -> respond(context, response, committed, all(error, commits)));
    }

    /**
     * Separates unknown partitions from the others, which are added to {@code commits}, with their elements of the
     * response in {@code committed}.
     */
    private OffsetCommitResponse prepare(
            RequestContext context,
            OffsetCommitRequest request,
            ErrorCode refusal,
            List<CommittedOffsets.Commit> commits,
            List<OffsetCommitResponse.OffsetCommitResponsePartition> committed) {
        boolean byId = context.apiVersion() >= FIRST_VERSION_WITH_TOPIC_IDS;
        MetadataImage image = images.get();
        List<OffsetCommitResponse.OffsetCommitResponseTopic> topics = new ArrayList<>();
        for (OffsetCommitRequest.OffsetCommitRequestTopic wanted : request.topics()) {
            TopicImage topic = byId ? image.topic(wanted.topicId()) : image.topic(wanted.name());
            List<OffsetCommitResponse.OffsetCommitResponsePartition> results = new ArrayList<>();
            boolean mayRead = refusal != ErrorCode.NONE
                    || (byId && topic == null)
                    || context.allows(Right.READ_TOPIC, byId ? topic.name() : wanted.name());
            topics.add(new OffsetCommitResponse.OffsetCommitResponseTopic()
                    .setName(wanted.name())
                    .setTopicId(wanted.topicId())
                    .setPartitions(results));
            for (OffsetCommitRequest.OffsetCommitRequestPartition partition : wanted.partitions()) {
                OffsetCommitResponse.OffsetCommitResponsePartition result =
                        new OffsetCommitResponse.OffsetCommitResponsePartition()
                                .setPartitionIndex(partition.partitionIndex());
                results.add(result);
                if (refusal != ErrorCode.NONE) {
                    result.setErrorCode(refusal.code());
                } else if (!mayRead) {
                    result.setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code());
                } else if (topic == null) {
                    ErrorCode missing = byId ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION;
                    result.setErrorCode(missing.code());
                } else if (partition.partitionIndex() < 0
                        || partition.partitionIndex() >= topic.partitions().size()) {
                    result.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
                } else {
                    committed.add(result);
                    commits.add(new CommittedOffsets.Commit(
                            topic.name(),
                            topic.id(),
                            partition.partitionIndex(),
                            partition.committedOffset(),
                            partition.committedLeaderEpoch(),
                            topic.partitions().get(partition.partitionIndex()).leaderEpoch(),
                            partition.committedMetadata()));
                }
            }
        }
        return new OffsetCommitResponse().setTopics(topics);
    }

    private static List<ErrorCode> all(ErrorCode error, List<CommittedOffsets.Commit> commits) {
        return Collections.nCopies(commits.size(), error);
    }

    private static void respond(
            RequestContext context,
            OffsetCommitResponse response,
            List<OffsetCommitResponse.OffsetCommitResponsePartition> committed,
            List<ErrorCode> outcomes) {
        for (int i = 0; i < outcomes.size(); i++) {
            committed.get(i).setErrorCode(outcomes.get(i).code());
        }
        context.respond(response);
    }
}
