package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeProducersRequest;
import io.journalq.common.protocol.message.DescribeProducersResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.ServedApi;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.producerstate.KnownProducer;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * DescribeProducers, version 0: the idempotent and transactional producers that partitions know, with the transactions
 * that they have open there, by which hanging ones are found (KIP-664).
 */
public final class DescribeProducersHandler implements Handler<DescribeProducersRequest> {
    private final Partitions partitions;

    /**
     * Answers for partitions.
     *
     * @param images gives the newest image
     */
    public DescribeProducersHandler(Supplier<MetadataImage> images, Shards shards) {
        this.partitions = new Partitions(images, shards);
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_PRODUCERS, 0, 0);
    }

    @Override
    public void handle(RequestContext context, DescribeProducersRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle());
        List<DescribeProducersResponse.TopicResponse> topics = new ArrayList<>();
        for (DescribeProducersRequest.TopicRequest wanted : request.topics()) {
            List<DescribeProducersResponse.PartitionResponse> answers = new ArrayList<>();
            topics.add(new DescribeProducersResponse.TopicResponse()
                    .setName(wanted.name())
                    .setPartitions(answers));
            for (int partition : wanted.partitionIndexes()) {
                answers.add(ask(fanOut, wanted.name(), partition));
            }
        }
        fanOut.start(() -> context.respond(new DescribeProducersResponse().setTopics(topics)));
    }

    private DescribeProducersResponse.PartitionResponse ask(PartitionFanOut fanOut, String name, int partition) {
        DescribeProducersResponse.PartitionResponse answer = new DescribeProducersResponse.PartitionResponse()
                .setPartitionIndex(partition)
                .setActiveProducers(List.of());
        TopicImage topic = partitions.topicOf(name, partition);
        if (topic == null) {
            return answer.setErrorCode(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code());
        }
        fanOut.add(partitions.shardOf(topic, partition), topic.id(), partition, (host, done) -> {
            if (host == null) {
                answer.setErrorCode(partitions.errorOfMissing(topic, partition).code());
            } else {
                answer.setActiveProducers(producers(host));
            }
            done.run();
        });
        return answer;
    }

    private static List<DescribeProducersResponse.ProducerState> producers(PartitionHost host) {
        List<DescribeProducersResponse.ProducerState> states = new ArrayList<>();
        for (KnownProducer producer : host.producers().known()) {
            states.add(new DescribeProducersResponse.ProducerState()
                    .setProducerId(producer.producerId())
                    .setProducerEpoch(producer.epoch())
                    .setLastSequence(producer.lastSequence())
                    .setLastTimestamp(producer.lastUsedMs())
                    .setCoordinatorEpoch(producer.coordinatorEpoch())
                    .setCurrentTxnStartOffset(producer.transactionFirstOffset()));
        }
        return states;
    }
}
