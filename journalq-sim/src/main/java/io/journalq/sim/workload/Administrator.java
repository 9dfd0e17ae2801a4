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

/** Deletes records, and creates and deletes topics while clients use them. It sends one request at a time. */
public final class Administrator {
    private static final int CREATE_VERSION = 7;
    private static final int DELETE_VERSION = 6;
    private static final int DELETE_RECORDS_VERSION = 2;
    private static final int LONGEST_PAUSE_MS = 150;
    private static final int MOST_PARTITIONS = 2;
    private static final int MOST_TOPICS = 3;
    private static final int TIMEOUT_MS = 60_000;

    /** Errors of a broker that could not write its metadata. */
    private static final Set<ErrorCode> FENCED = EnumSet.of(ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_CONTROLLER);

    private final World world;
    private final List<Topic> topics;
    private final Consumer<Topic> onPresent;
    private SimBroker.Connection connection;
    private int lastNumber;

    /**
     * Prepares an administrator without topics.
     *
     * @param topics receives each topic for which a create request was sent
     * @param onPresent called for each topic that the broker has confirmed
     */
    public Administrator(World world, List<Topic> topics, Consumer<Topic> onPresent) {
        this.world = world;
        this.topics = topics;
        this.onPresent = onPresent;
    }

    /** A life of the broker begins. */
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

    /** Creates a topic. {@code then} runs when the response has arrived. */
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
        over.send(ApiKey.CREATE_TOPICS, CREATE_VERSION, request, message -> {
            CreateTopicsResponse.CreatableTopicResult result =
                    ((CreateTopicsResponse) message).topics().get(0);
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

    /** The name of a topic that was deleted in an earlier life of the broker, or a new one. */
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
        connection.send(ApiKey.DELETE_TOPICS, DELETE_VERSION, request, message -> {
            ErrorCode error = ErrorCode.of(
                    ((DeleteTopicsResponse) message).responses().get(0).errorCode());
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
        connection.send(ApiKey.DELETE_RECORDS, DELETE_RECORDS_VERSION, request, message -> {
            DeleteRecordsResponse.DeleteRecordsPartitionResult result = ((DeleteRecordsResponse) message)
                    .topics()
                    .get(0)
                    .partitions()
                    .get(0);
            if (result.errorCode() == 0) {
                if (!takes || result.lowWatermark() < offset) {
                    world.report(
                            "RecordsAreDeleted",
                            partition + ": low watermark " + result.lowWatermark() + " after a request to delete up to "
                                    + offset);
                }
                partition.onDeleted(offset);
                world.did(Work.RECORDS_DELETED, 1);
            }
            world.deliver(this::pause);
        });
    }
}
