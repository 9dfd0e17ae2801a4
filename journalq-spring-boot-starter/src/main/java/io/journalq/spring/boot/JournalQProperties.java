package io.journalq.spring.boot;

import io.journalq.client.Acks;
import io.journalq.client.ClientBuilder;
import io.journalq.client.Consumer;
import io.journalq.client.Partitioning;
import io.journalq.common.record.CompressionCodec;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.PropertyMapper;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The properties of the clients. A property that is not set keeps the default of the client.
 *
 * @param bootstrapServers Brokers from which the clients learn the cluster, as host:port.
 * @param clientId Name of the clients in logs and metrics. By default, the name of the application.
 * @param connectTimeout Maximum time to open a connection. Default of the client: 10 s.
 * @param requestTimeout Maximum time for the response to one request. Default of the client: 30 s.
 * @param callTimeout Maximum duration of a call, including retries. Default of the client: 60 s.
 * @param keySerde Format of keys: bytes, utf8, long, uuid, json, or the name of a bean of type Serde.
 * @param valueSerde Format of values: bytes, utf8, long, uuid, json, or the name of a bean of type Serde.
 * @param producer Settings of the producer.
 * @param consumer Settings of the consumers.
 * @param listener Settings of the methods with JournalQListener.
 * @param health Settings of the health indicator.
 */
@ConfigurationProperties("journalq")
public record JournalQProperties(
        @DefaultValue("localhost:9092") List<String> bootstrapServers,
        String clientId,
        Duration connectTimeout,
        Duration requestTimeout,
        Duration callTimeout,
        @DefaultValue("utf8") String keySerde,
        @DefaultValue("utf8") String valueSerde,
        @DefaultValue ProducerSettings producer,
        @DefaultValue ConsumerSettings consumer,
        @DefaultValue ListenerSettings listener,
        @DefaultValue HealthSettings health) {

    /**
     * The settings of the producer.
     *
     * @param acks How many replicas must have a record before it is acknowledged. Default of the client: leader.
     * @param compression Codec for batches. Default of the client: none.
     * @param idempotent Whether retries can neither duplicate nor reorder records. Default of the client: true.
     * @param partitioning How to choose a partition for records without a key. Default of the client: sticky.
     * @param batchSize Size, before compression, at which a batch is sent. Default of the client: 64 KB.
     * @param linger Maximum time that a record waits for more records of its batch. Default of the client: 0.
     * @param bufferMemory Maximum memory for records that are not yet acknowledged. Default of the client: 64 MB.
     * @param maxRequestSize Maximum size of a record or batch before compression. Default of the client: 1 MB.
     * @param deliveryTimeout Maximum time from a send to its acknowledgement. Default of the client: 2 min.
     * @param transactionalId Name of the producer for transactions. If set, all records are sent in transactions.
     * @param transactionTimeout Maximum duration of a transaction. Default of the client: 60 s.
     */
    public record ProducerSettings(
            Acks acks,
            CompressionCodec compression,
            Boolean idempotent,
            Partitioning partitioning,
            DataSize batchSize,
            Duration linger,
            DataSize bufferMemory,
            DataSize maxRequestSize,
            Duration deliveryTimeout,
            String transactionalId,
            Duration transactionTimeout) {}

    /**
     * The settings of the consumers.
     *
     * @param groupId Consumer group of consumers and of listeners that do not name one.
     * @param startAt Where a partition without a committed offset is read first. Default of the client: end.
     * @param isolation Which records of transactions are read. Default of the client: read-uncommitted.
     * @param autoCommit Whether consumers that the application creates commit automatically. Default of the client:
     *     true.
     * @param autoCommitInterval Minimum interval between two automatic commits. Default of the client: 5 s.
     * @param maxPollInterval Maximum time between two polls, after which a consumer leaves its group. Default of the
     *     client: 5 min.
     * @param fetchMaxWait Maximum time that the broker parks a fetch. Default of the client: 500 ms.
     * @param fetchMinSize Size of the data at which the broker responds to a fetch. Default of the client: 1 B.
     * @param fetchMaxSize Maximum size of a Fetch response. Default of the client: 16 MB.
     * @param partitionMaxSize Maximum size of the data of one partition in a Fetch response. Default of the client: 1
     *     MB.
     */
    public record ConsumerSettings(
            String groupId,
            StartAt startAt,
            Consumer.Isolation isolation,
            Boolean autoCommit,
            Duration autoCommitInterval,
            Duration maxPollInterval,
            Duration fetchMaxWait,
            DataSize fetchMinSize,
            DataSize fetchMaxSize,
            DataSize partitionMaxSize) {}

    /**
     * The settings of listeners.
     *
     * @param autoStartup Whether listeners start with the application.
     * @param maxAttempts How often a listener is called with a record before the record is given up.
     * @param retryDelay Time between two attempts, and before a poll that failed is repeated.
     */
    public record ListenerSettings(
            @DefaultValue("true") boolean autoStartup,
            @DefaultValue("10") int maxAttempts,
            @DefaultValue("1s") Duration retryDelay) {}

    /**
     * The settings of the health indicator.
     *
     * @param timeout Maximum time for the response of a broker.
     */
    public record HealthSettings(@DefaultValue("5s") Duration timeout) {}

    /** Where a partition without a committed offset is read first. */
    public enum StartAt {
        /** At the first offset of the partition. */
        BEGINNING,
        /** At the end of the partition. */
        END,
        /** Nowhere: the poll fails. */
        NOWHERE;

        private Consumer.Start start() {
            return switch (this) {
                case BEGINNING -> Consumer.Start.BEGINNING;
                case END -> Consumer.Start.END;
                case NOWHERE -> Consumer.Start.NOWHERE;
            };
        }
    }

    /**
     * Sets what all clients share.
     *
     * @param clientId the name of this client
     */
    <B extends ClientBuilder<B>> B applyTo(B builder, String clientId) {
        builder.bootstrapServers(String.join(",", bootstrapServers)).clientId(clientId);
        PropertyMapper map = PropertyMapper.get();
        map.from(connectTimeout).to(builder::connectTimeout);
        map.from(requestTimeout).to(builder::requestTimeout);
        map.from(callTimeout).to(builder::callTimeout);
        return builder;
    }

    void applyTo(io.journalq.client.Producer.Builder builder) {
        PropertyMapper map = PropertyMapper.get();
        map.from(producer.acks).to(builder::acks);
        map.from(producer.compression).to(builder::compression);
        map.from(producer.idempotent).to(builder::idempotent);
        map.from(producer.partitioning).to(builder::partitioning);
        map.from(producer.batchSize).as(JournalQProperties::bytes).to(builder::batchSizeBytes);
        map.from(producer.linger).to(builder::linger);
        map.from(producer.bufferMemory).as(DataSize::toBytes).to(builder::bufferMemoryBytes);
        map.from(producer.maxRequestSize).as(JournalQProperties::bytes).to(builder::maxRequestSizeBytes);
        map.from(producer.deliveryTimeout).to(builder::deliveryTimeout);
        map.from(producer.transactionalId).to(builder::transactionalId);
        map.from(producer.transactionTimeout).to(builder::transactionTimeout);
    }

    void applyTo(Consumer.Builder builder) {
        PropertyMapper map = PropertyMapper.get();
        map.from(consumer.groupId).to(builder::groupId);
        map.from(consumer.startAt).as(StartAt::start).to(builder::startAt);
        map.from(consumer.isolation).to(builder::isolation);
        map.from(consumer.autoCommit).to(builder::autoCommit);
        map.from(consumer.autoCommitInterval).to(builder::autoCommitInterval);
        map.from(consumer.maxPollInterval).to(builder::maxPollInterval);
        map.from(consumer.fetchMaxWait).to(builder::fetchMaxWait);
        map.from(consumer.fetchMinSize).as(JournalQProperties::bytes).to(builder::fetchMinBytes);
        map.from(consumer.fetchMaxSize).as(JournalQProperties::bytes).to(builder::fetchMaxBytes);
        map.from(consumer.partitionMaxSize).as(JournalQProperties::bytes).to(builder::partitionMaxBytes);
    }

    private static int bytes(DataSize size) {
        return Math.toIntExact(size.toBytes());
    }
}
