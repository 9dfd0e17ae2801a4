package io.journalq.sim.workload;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.journalq.common.protocol.message.DeleteRecordsRequest;
import io.journalq.common.protocol.message.DeleteRecordsResponse;
import io.journalq.common.protocol.message.DeleteTopicsRequest;
import io.journalq.common.protocol.message.DeleteTopicsResponse;
import io.journalq.sim.workload.World.Work;
import io.journalq.sim.world.SimBroker;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** Deletes records, and creates and deletes topics while others use them; one thing after the other. */
public final class Administrator {
    private static final int CREATE_VERSION = 7;
    private static final int DELETE_VERSION = 6;
    private static final int DELETE_RECORDS_VERSION = 2;
    private static final int LONGEST_PAUSE_MS = 150;
    private static final int MOST_PARTITIONS = 2;
    private static final int MOST_TOPICS = 3;
    private static final int TIMEOUT_MS = 60_000;

    /** What a broker says that could not write its metadata. */
    private static final Set<ErrorCode> FENCED = EnumSet.of(ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_CONTROLLER);

    private final World world;
    private final List<Topic> topics;
    private final Consumer<Topic> onPresent;
    private SimBroker.Connection connection;
    private int lastNumber;

    /**
     * Begins with no topic.
     *
     * @param topics every topic that was ever asked for is added here
     * @param onPresent hears of each that somebody was told of
     */
    public Administrator(World world, List<Topic> topics, Consumer<Topic> onPresent) {
        this.world = world;
        this.topics = topics;
        this.onPresent = onPresent;
    }

    /** The broker lives again. */
    public void onStart() {
        connection = world.broker().connect();
        pause();
    }

    private void pause() {
        world.later(LONGEST_PAUSE_MS, this::act);
    }

    private void act() {
        List<Topic> present = topics.stream()
                .filter(topic -> topic.state() == Topic.State.PRESENT)
                .toList();
        int choice = world.random().nextInt(8);
        if (choice == 0 && present.size() < MOST_TOPICS) {
            create(connection, this::pause);
        } else if (choice == 1 && present.size() > 1) {
            delete(present.get(world.random().nextInt(present.size())));
        } else if (choice < 5 && !present.isEmpty()) {
            List<PartitionHistory> partitions =
                    present.get(world.random().nextInt(present.size())).partitions();
            deleteRecords(partitions.get(world.random().nextInt(partitions.size())));
        } else {
            pause();
        }
    }

    /** Creates a topic; {@code then} runs when the answer has come. */
    public void create(SimBroker.Connection over, Runnable then) {
        Topic topic = new Topic(
                newName(), TopicPlan.of(world.random()), 1 + world.random().nextInt(MOST_PARTITIONS));
        topics.add(topic);
        CreateTopicsRequest request = new CreateTopicsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new CreateTopicsRequest.CreatableTopic()
                        .setName(topic.name())
                        .setNumPartitions(topic.partitions().size())
                        .setReplicationFactor((short) 1)
                        .setConfigs(topic.plan().configs())));
        over.send(ApiKey.CREATE_TOPICS, CREATE_VERSION, request, answer -> {
            CreateTopicsResponse.CreatableTopicResult result =
                    ((CreateTopicsResponse) answer).topics().get(0);
            if (result.errorCode() == 0) {
                topic.onPresent(result.topicId());
                world.did(Work.TOPICS_CREATED, 1);
            } else if (!FENCED.contains(ErrorCode.of(result.errorCode()))) {
                world.report("TopicsAreCreated", topic + ": " + ErrorCode.of(result.errorCode()));
            }
            world.deliver(() -> {
                if (topic.state() == Topic.State.PRESENT) {
                    onPresent.accept(topic);
                }
                then.run();
            });
        });
    }

    /** The name of a topic that went in an earlier life, if there is one, else a new one. */
    private String newName() {
        for (Topic topic : topics) {
            if (topic.isGoneSinceLastLife() && world.random().nextBoolean()) {
                boolean free = topics.stream()
                        .noneMatch(other -> other.name().equals(topic.name()) && !other.isGoneSinceLastLife());
                if (free) {
                    return topic.name();
                }
            }
        }
        lastNumber++;
        return "topic" + lastNumber;
    }

    private void delete(Topic topic) {
        topic.onDeleting();
        DeleteTopicsRequest request = new DeleteTopicsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new DeleteTopicsRequest.DeleteTopicState().setTopicId(topic.id())));
        connection.send(ApiKey.DELETE_TOPICS, DELETE_VERSION, request, answer -> {
            ErrorCode error = ErrorCode.of(
                    ((DeleteTopicsResponse) answer).responses().get(0).errorCode());
            if (error == ErrorCode.NONE) {
                topic.onGone();
                world.did(Work.TOPICS_DELETED, 1);
            } else if (!FENCED.contains(error)) {
                world.report("TopicsAreDeleted", topic + ": " + error);
            }
            world.deliver(this::pause);
        });
    }

    private void deleteRecords(PartitionHistory partition) {
        long end = partition.knownEnd();
        long offset = Math.max(0, end - world.random().nextInt(20));
        boolean takes = !partition.plan().isCompacted();
        if (takes) {
            partition.onDelete(offset);
        }
        DeleteRecordsRequest request = new DeleteRecordsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new DeleteRecordsRequest.DeleteRecordsTopic()
                        .setName(partition.topic())
                        .setPartitions(List.of(new DeleteRecordsRequest.DeleteRecordsPartition()
                                .setPartitionIndex(partition.partition())
                                .setOffset(offset)))));
        connection.send(ApiKey.DELETE_RECORDS, DELETE_RECORDS_VERSION, request, answer -> {
            DeleteRecordsResponse.DeleteRecordsPartitionResult result = ((DeleteRecordsResponse) answer)
                    .topics()
                    .get(0)
                    .partitions()
                    .get(0);
            if (result.errorCode() == 0) {
                if (!takes || result.lowWatermark() < offset) {
                    world.report("RecordsAreDeleted", partition + ": " + result.lowWatermark() + " after " + offset);
                }
                partition.onDeleted(offset);
                world.did(Work.RECORDS_DELETED, 1);
            }
            world.deliver(this::pause);
        });
    }
}
