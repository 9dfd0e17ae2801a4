package io.journalq.server.gateway.produce;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.record.Murmur2;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.TopicConfig;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.netty.handler.codec.http.HttpMethod;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * {@code POST /v1/topics/{topic}/records}: appends records. The type of the body decides its format:
 *
 * <ul>
 * <li>{@code application/json}: {@code {"records": [...]}}. Nothing is appended unless all of it parses.
 * <li>{@code application/x-ndjson}: a record in each line. Records are appended as they arrive.
 * <li>{@code application/vnd.journalq.batch}: record batches for one partition. Each is appended when it is complete.
 * <li>Any other type, or {@code format=raw}: the body is the value of one record, and headers describe the rest.
 * </ul>
 *
 * <p>Any thread.
 */
public final class ProduceRoute implements Route {
    private static final String JSON = "application/json";
    private static final String NDJSON = "application/x-ndjson";
    private static final String RAW = "raw";
    private static final List<String> PARAMETERS = List.of("format");

    private final Supplier<MetadataImage> images;
    private final BrokerConfig config;
    private final LongSupplier epochMs;

    /**
     * Creates the route.
     *
     * @param images supplies the newest image
     * @param epochMs the time of day, for records without a timestamp
     */
    public ProduceRoute(Supplier<MetadataImage> images, BrokerConfig config, LongSupplier epochMs) {
        this.images = images;
        this.config = config;
        this.epochMs = epochMs;
    }

    /**
     * Where records go.
     *
     * @param keyless the partition of records without a key and a partition
     * @param maxMessageBytes maximum size of a batch that the topic accepts
     */
    record Target(String topic, int partitions, int keyless, int maxMessageBytes, LongSupplier epochMs) {
        /** Chooses the partition of a record, as Kafka's Java client does. */
        int partition(byte[] key) {
            return key == null ? keyless : Murmur2.partition(key, partitions);
        }

        /** Checks a partition that a client has chosen. */
        int checked(long partition) {
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

    @Override
    public HttpMethod method() {
        return HttpMethod.POST;
    }

    @Override
    public String template() {
        return "/v1/topics/{topic}/records";
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        exchange.checkParameters(PARAMETERS);
        exchange.checkQuota(QuotaKeys.PRODUCE_BYTES);
        exchange.checkRight(ApiKey.PRODUCE, Right.WRITE_TOPIC, exchange.pathParameter("topic"));
        Target target = target(exchange.pathParameter("topic"));
        String format = exchange.parameter("format");
        if (format != null && !format.equals(RAW)) {
            throw HttpExchange.invalid("unknown format", "use format=raw, or leave it out");
        }
        String type = exchange.bodyType();
        if (format == null && type.equals(JSON)) {
            return new RecordsBody(exchange, target, false);
        }
        if (format == null && type.equals(NDJSON)) {
            return new RecordsBody(exchange, target, true);
        }
        if (format == null && type.equals(BatchBody.TYPE)) {
            return new BatchBody(exchange, target);
        }
        return new RawBody(exchange, target);
    }

    private Target target(String name) {
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
        return new Target(name, partitions, ThreadLocalRandom.current().nextInt(partitions), maxMessageBytes, epochMs);
    }
}
