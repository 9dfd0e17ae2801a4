package io.journalq.server.gateway.produce;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.record.Murmur2;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** The topics to which clients append records. Any thread. */
public final class Targets {
    private final Supplier<MetadataImage> images;
    private final BrokerConfig config;
    private final LongSupplier epochMs;

    /**
     * Finds topics.
     *
     * @param images supplies the newest image
     * @param epochMs the time of day, for records without a timestamp
     */
    public Targets(Supplier<MetadataImage> images, BrokerConfig config, LongSupplier epochMs) {
        this.images = images;
        this.config = config;
        this.epochMs = epochMs;
    }

    /**
     * Where records go.
     *
     * @param keyless the partition of records without a key and a partition
     * @param maxMessageBytes maximum size of a batch that the topic accepts
     * @param producer the producer that makes retries exact; null if there is none
     */
    public record Target(
            String topic,
            int partitions,
            int keyless,
            int maxMessageBytes,
            LongSupplier epochMs,
            ProducerToken producer) {
        /** Chooses the partition of a record, as Kafka's Java client does. */
        public int partition(byte[] key) {
            return key == null
                    ? keyless
                    : Murmur2.partition(key, producer == null ? partitions : producer.partitions());
        }

        /** The same target for a producer. */
        Target of(ProducerToken itsProducer) {
            if (itsProducer == null) {
                return this;
            }
            if (itsProducer.partitions() > partitions) {
                throw HttpExchange.invalid(
                        ProducerToken.HEADER + " is of a topic with more partitions",
                        "get one for this topic from POST /v1/topics/{topic}/producers");
            }
            return new Target(topic, partitions, itsProducer.keyless(), maxMessageBytes, epochMs, itsProducer);
        }

        /** Checks a partition that a client has chosen. */
        public int checked(long partition) {
            if (partition < 0 || partition >= partitions) {
                throw new Problem(
                                ProblemType.UNKNOWN_PARTITION,
                                "the topic has no partition " + partition,
                                "choose one from 0 to " + (partitions - 1))
                        .exception();
            }
            return (int) partition;
        }
    }

    /**
     * Finds the target of a request or message that appends records.
     *
     * @throws io.journalq.server.gateway.problem.ProblemException if the client may not append to it, or has used up its
     *     quota
     */
    public Target find(HttpExchange exchange, String name) {
        exchange.checkQuota(QuotaKeys.PRODUCE_BYTES);
        exchange.checkRight(ApiKey.PRODUCE, Right.WRITE_TOPIC, name);
        TopicImage topic = images.get().topic(name);
        if (topic == null) {
            throw new Problem(
                            ProblemType.UNKNOWN_TOPIC,
                            "there is no topic of this name",
                            "check its name, or create the topic")
                    .exception();
        }
        if (InternalTopics.contains(name)) {
            throw new Problem(
                            ProblemType.RECORDS_REFUSED, "the broker writes this topic itself", "choose another topic")
                    .exception();
        }
        int partitions = topic.partitions().size();
        int maxMessageBytes = TopicConfig.of(config, topic.configs()).get(TopicSettings.MAX_MESSAGE_BYTES);
        return new Target(
                name, partitions, ThreadLocalRandom.current().nextInt(partitions), maxMessageBytes, epochMs, null);
    }
}
