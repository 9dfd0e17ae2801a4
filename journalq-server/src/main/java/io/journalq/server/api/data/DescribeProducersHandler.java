package io.journalq.server.api.data;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeProducersRequest;
import io.journalq.common.protocol.message.DescribeProducersResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.producerstate.PartitionTransactions.KnownProducer;
import io.journalq.server.security.Right;
import io.journalq.server.shard.Shards;
import io.journalq.server.shard.partition.PartitionHost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * DescribeProducers, version 0: the idempotent and transactional producers that partitions know, with their open
 * transactions. Administrators find hanging transactions this way (KIP-664).
 */
public final class DescribeProducersHandler implements Handler<DescribeProducersRequest> {
    private final Supplier<MetadataImage> images;
    private final Shards shards;

    /**
     * Serves the partitions of {@code shards}.
     *
     * @param images supplies the newest image
     */
    public DescribeProducersHandler(Supplier<MetadataImage> images, Shards shards) {
        this.images = images;
        this.shards = shards;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_PRODUCERS, 0, 0, AccessRule.asks(Right.READ_TOPIC));
    }

    @Override
    public void handle(RequestContext context, DescribeProducersRequest request) {
        PartitionFanOut fanOut = new PartitionFanOut(context.cycle(), images.get(), shards);
        List<DescribeProducersResponse.TopicResponse> topics = new ArrayList<>();
        // A partition is described once. Otherwise, a short request could fill the heap.
        Map<String, Set<Integer>> described = new HashMap<>();
        for (DescribeProducersRequest.TopicRequest wanted : request.topics()) {
            List<DescribeProducersResponse.PartitionResponse> responses = new ArrayList<>();
            topics.add(new DescribeProducersResponse.TopicResponse()
                    .setName(wanted.name())
                    .setPartitions(responses));
            boolean mayRead = context.allows(Right.READ_TOPIC, wanted.name());
            String denial = mayRead ? null : context.denial();
            Set<Integer> numbers = described.computeIfAbsent(wanted.name(), name -> new HashSet<>());
            for (int partition : wanted.partitionIndexes()) {
                if (numbers.add(partition)) {
                    responses.add(mayRead ? ask(fanOut, wanted.name(), partition) : denied(partition, denial));
                }
            }
        }
        fanOut.start(() -> context.respond(new DescribeProducersResponse().setTopics(topics)));
    }

    private static DescribeProducersResponse.PartitionResponse denied(int partition, String reason) {
        return new DescribeProducersResponse.PartitionResponse()
                .setPartitionIndex(partition)
                .setActiveProducers(List.of())
                .setErrorCode(ErrorCode.TOPIC_AUTHORIZATION_FAILED.code())
                .setErrorMessage(reason);
    }

    private DescribeProducersResponse.PartitionResponse ask(PartitionFanOut fanOut, String name, int partition) {
        DescribeProducersResponse.PartitionResponse response = new DescribeProducersResponse.PartitionResponse()
                .setPartitionIndex(partition)
                .setActiveProducers(List.of());
        fanOut.add(name, partition, error -> response.setErrorCode(error.code()), (host, done) -> {
            response.setActiveProducers(producers(host));
            done.run();
        });
        return response;
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
