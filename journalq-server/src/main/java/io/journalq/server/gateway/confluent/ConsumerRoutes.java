package io.journalq.server.gateway.confluent;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import io.journalq.server.gateway.consume.SeatOffsets;
import io.journalq.server.gateway.consume.Start;
import io.journalq.server.gateway.http.ErrorForm;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The routes of consumers in the API v2 of Confluent's REST proxy: {@code /consumers}. Their responses are those of {@link
 * ConsumerInstance}. Immutable, any thread.
 */
public final class ConsumerRoutes {
    /** Types that stand for the format of an instance. */
    private static final List<String> ANY_FORMAT =
            List.of(MediaTypes.V2, RouteDescription.JSON, "*/*", "application/*", "application/vnd.kafka+json");

    private static final int MAX_NAME_CHARS = 255;
    private static final ErrorForm ERRORS = new ConfluentErrors(MediaTypes.V2);

    private static final String GROUP = "/consumers/{group}";
    private static final String INSTANCE = GROUP + "/instances/{instance}";

    /** Members of the request that creates an instance. */
    private static final List<String> CREATE_MEMBERS = Stream.concat(
                    Stream.of("id", "name"), ConsumerSettings.MEMBERS.stream())
            .toList();

    private static final String PARTITIONS = "{\"partitions\":[{\"topic\":\"orders\",\"partition\":0}]}";
    private static final String OFFSETS = "{\"offsets\":[{\"topic\":\"orders\",\"partition\":0,\"offset\":0}]}";

    private final ConsumerInstances instances;
    private final Supplier<MetadataImage> images;
    private final String scheme;

    /**
     * Prepares the routes.
     *
     * @param images supplies the newest image
     * @param encrypted whether clients connect with TLS
     */
    public ConsumerRoutes(ConsumerInstances instances, Supplier<MetadataImage> images, boolean encrypted) {
        this.instances = instances;
        this.images = images;
        this.scheme = encrypted ? "https" : "http";
    }

    /** All of them. */
    public List<Route> routes() {
        return List.of(
                new ConsumerRoute(
                        HttpMethod.POST,
                        GROUP,
                        RouteDescription.of("creates a consumer instance, as Confluent's REST proxy (v2)")
                                .withBody(
                                        MediaTypes.V2,
                                        "{\"name\":\"consumer-1\",\"format\":\"json\",\"auto.offset.reset\":\"earliest\"}")
                                .responding(HttpResponseStatus.OK, MediaTypes.V2),
                        this::create),
                route(HttpMethod.DELETE, "", "deletes a consumer instance, which leaves its group", null, this::delete),
                route(
                        HttpMethod.POST,
                        "/subscription",
                        "subscribes to topics, or to those that match a pattern",
                        "{\"topics\":[\"orders\"]}",
                        this::subscribe),
                show(
                        "/subscription",
                        "shows the topics of the subscription",
                        (request, instance) -> request.submit(() -> instance.showSubscription(request.call()))),
                route(
                        HttpMethod.DELETE,
                        "/subscription",
                        "ends the subscription or the assignments",
                        null,
                        (request, instance) -> request.submit(() -> instance.unsubscribe(request.call()))),
                route(
                        HttpMethod.POST,
                        "/assignments",
                        "reads these partitions, outside of the group",
                        PARTITIONS,
                        this::assign),
                show(
                        "/assignments",
                        "shows the partitions that the instance reads",
                        (request, instance) -> request.submit(() -> instance.showAssignments(request.call()))),
                route(HttpMethod.POST, "/positions", "continues at these offsets", OFFSETS, (request, instance) -> {
                    Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
                    request.offsets().forEach((partition, offset) -> offsets.put(partition, offset.offset()));
                    request.submit(() -> instance.seek(request.call(), offsets));
                }),
                route(
                        HttpMethod.POST,
                        "/positions/beginning",
                        "continues at the start of partitions",
                        PARTITIONS,
                        (request, instance) -> seek(request, instance, Start.START)),
                route(
                        HttpMethod.POST,
                        "/positions/end",
                        "continues at the end of partitions",
                        PARTITIONS,
                        (request, instance) -> seek(request, instance, Start.END)),
                new ConsumerRoute(
                        HttpMethod.GET,
                        INSTANCE + "/records",
                        RouteDescription.of("reads records")
                                .with(List.of(
                                        RouteDescription.Parameter.optional(
                                                "timeout", "ms to wait for the first record"),
                                        RouteDescription.Parameter.optional(
                                                "max_bytes", "size of keys and values, 1 MiB at most")))
                                .responding(HttpResponseStatus.OK, MediaTypes.JSON_V2),
                        onInstance(this::read)),
                route(
                        HttpMethod.POST,
                        "/offsets",
                        "commits the offsets of these records, or all without a body",
                        OFFSETS,
                        ConsumerRoutes::commit),
                new ConsumerRoute(
                        HttpMethod.GET,
                        INSTANCE + "/offsets",
                        RouteDescription.of("shows committed offsets")
                                .withBody(MediaTypes.V2, PARTITIONS)
                                .responding(HttpResponseStatus.OK, MediaTypes.V2),
                        onInstance((request, instance) -> {
                            Set<TopicPartition> partitions = request.partitions();
                            request.submit(() -> instance.showCommitted(request.call(), partitions));
                        })));
    }

    /** A route without a response body. */
    private ConsumerRoute route(
            HttpMethod method,
            String path,
            String summary,
            String example,
            BiConsumer<ConsumerRequest, ConsumerInstance> operation) {
        RouteDescription description = RouteDescription.of(summary).responding(HttpResponseStatus.NO_CONTENT, null);
        return new ConsumerRoute(
                method,
                INSTANCE + path,
                example == null ? description : description.withBody(MediaTypes.V2, example),
                onInstance(operation));
    }

    private ConsumerRoute show(String path, String summary, BiConsumer<ConsumerRequest, ConsumerInstance> operation) {
        return new ConsumerRoute(
                HttpMethod.GET,
                INSTANCE + path,
                RouteDescription.of(summary).responding(HttpResponseStatus.OK, MediaTypes.V2),
                onInstance(operation));
    }

    private Consumer<ConsumerRequest> onInstance(BiConsumer<ConsumerRequest, ConsumerInstance> operation) {
        return request -> {
            HttpExchange exchange = request.exchange();
            ConsumerInstance instance = instances.find(
                    exchange,
                    new ConsumerInstances.Key(exchange.pathParameter("group"), exchange.pathParameter("instance")));
            request.begin(instance);
            operation.accept(request, instance);
        };
    }

    private void create(ConsumerRequest request) {
        HttpExchange exchange = request.exchange();
        String group = named(exchange.pathParameter("group"), "group");
        exchange.checkRight(ApiKey.CONSUMER_GROUP_HEARTBEAT, Right.READ_GROUP, group);
        JsonObject body = request.body();
        body.checkMembers(CREATE_MEMBERS);
        String name = body.text("id") == null ? body.text("name") : body.text("id");
        String chosen = name == null ? "rest-consumer-" + UUID.randomUUID() : named(name, "name");
        instances.create(exchange, new ConsumerInstances.Key(group, chosen), ConsumerSettings.of(body));
        String host = exchange.request().headers().get(HttpHeaderNames.HOST);
        String base = host == null ? "" : scheme + "://" + host;
        exchange.respond(
                HttpResponseStatus.OK,
                MediaTypes.V2,
                JsonOut.object(exchange.allocator(), json -> {
                    json.writeStringField("instance_id", chosen);
                    json.writeStringField(
                            "base_uri", base + "/consumers/" + encoded(group) + "/instances/" + encoded(chosen));
                }),
                Map.of());
    }

    private static String named(String text, String member) {
        if (text.isEmpty() || text.length() > MAX_NAME_CHARS) {
            throw ConsumerSettings.invalid("\"" + member + "\" does not have 1 to " + MAX_NAME_CHARS + " characters");
        }
        return text;
    }

    private static String encoded(String segment) {
        return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private void delete(ConsumerRequest request, ConsumerInstance instance) {
        request.goOnWithoutClient();
        instance.run(() -> instance.delete(request.call()::done));
    }

    private void subscribe(ConsumerRequest request, ConsumerInstance instance) {
        JsonObject body = request.body();
        body.checkMembers(List.of("topics", "topic_pattern"));
        Set<String> topics = new LinkedHashSet<>(body.list("topics", String.class));
        String pattern = body.text("topic_pattern");
        if (body.has("topics") == (pattern != null)) {
            throw JsonObject.invalid(
                    "it does not have either \"topics\" or \"topic_pattern\"", ConfluentErrors.EXAMPLES);
        }
        if (topics.size() > ConsumerPositions.MAX_PARTITIONS) {
            throw JsonObject.invalid(
                    "it has more than " + ConsumerPositions.MAX_PARTITIONS + " topics", ConfluentErrors.EXAMPLES);
        }
        for (String topic : topics) {
            request.exchange().checkRight(ApiKey.FETCH, Right.READ_TOPIC, topic);
        }
        if (pattern != null) {
            checkPattern(pattern);
        }
        boolean nothing = topics.isEmpty() && pattern == null;
        request.submit(() -> {
            if (nothing) {
                instance.unsubscribe(request.call());
            } else {
                instance.subscribe(request.call(), topics, pattern);
            }
        });
    }

    private static void checkPattern(String pattern) {
        try {
            Pattern.compile(pattern);
        } catch (PatternSyntaxException invalid) {
            throw JsonObject.invalid(
                    "\"topic_pattern\" is not a regular expression of RE2: " + invalid.getMessage(),
                    ConfluentErrors.EXAMPLES);
        }
        if (pattern.isEmpty()) {
            throw JsonObject.invalid("\"topic_pattern\" is empty", ConfluentErrors.EXAMPLES);
        }
    }

    private void assign(ConsumerRequest request, ConsumerInstance instance) {
        Set<TopicPartition> partitions = request.partitions();
        if (partitions.size() > ConsumerPositions.MAX_PARTITIONS) {
            throw JsonObject.invalid(
                    "it has more than " + ConsumerPositions.MAX_PARTITIONS + " partitions", ConfluentErrors.EXAMPLES);
        }
        for (TopicPartition partition : partitions) {
            request.exchange().checkRight(ApiKey.FETCH, Right.READ_TOPIC, partition.topic());
            TopicImage topic = images.get().topic(partition.topic());
            if (topic == null) {
                throw new Problem(
                                ProblemType.UNKNOWN_TOPIC,
                                "there is no topic of this name",
                                "check its name, or create the topic")
                        .exception();
            }
            if (partition.partition() >= topic.partitions().size()) {
                throw new Problem(
                                ProblemType.UNKNOWN_PARTITION,
                                "the topic has no partition " + partition.partition(),
                                "choose one from 0 to " + (topic.partitions().size() - 1))
                        .exception();
            }
        }
        request.submit(() -> instance.assign(request.call(), partitions));
    }

    private static void seek(ConsumerRequest request, ConsumerInstance instance, long timestamp) {
        Set<TopicPartition> partitions = request.partitions();
        request.submit(() -> instance.seek(request.call(), partitions, timestamp));
    }

    /** Commits what the client names: records, behind which the next one is committed. */
    private static void commit(ConsumerRequest request, ConsumerInstance instance) {
        if (request.isEmpty()) {
            request.submit(() -> instance.commit(request.call(), null));
            return;
        }
        Map<TopicPartition, SeatOffsets.Committed> offsets = new LinkedHashMap<>();
        request.offsets()
                .forEach((partition, offset) ->
                        offsets.put(partition, new SeatOffsets.Committed(offset.offset() + 1, offset.metadata())));
        request.submit(() -> instance.commit(request.call(), offsets));
    }

    private void read(ConsumerRequest request, ConsumerInstance instance) {
        HttpExchange exchange = request.exchange();
        exchange.checkQuota(QuotaKeys.FETCH_BYTES);
        checkFormat(exchange, instance.settings().format());
        long waitMs = parameter(
                exchange,
                "timeout",
                0,
                ConsumerSettings.MAX_WAIT_MS,
                instance.settings().requestTimeoutMs());
        long maxBytes = parameter(exchange, "max_bytes", 1, Long.MAX_VALUE, ConsumerRead.MAX_BYTES);
        request.submit(() -> instance.read(request.call(), waitMs, maxBytes));
    }

    private static long parameter(HttpExchange exchange, String name, long lowest, long highest, long byDefault) {
        String text = exchange.parameter(name);
        if (text == null) {
            return byDefault;
        }
        if (!text.matches("-?\\d{1,18}")) {
            throw HttpExchange.invalid(name + " is not a number", "leave it out, or send a number");
        }
        long number = Long.parseLong(text);
        return number < lowest ? byDefault : Math.min(number, highest);
    }

    private static void checkFormat(HttpExchange exchange, RecordDocument.Format format) {
        List<String> accepted = exchange.request().headers().getAll(HttpHeaderNames.ACCEPT);
        String wanted = format == RecordDocument.Format.JSON ? MediaTypes.JSON_V2 : MediaTypes.BINARY_V2;
        boolean other = false;
        for (String header : accepted) {
            for (String part : header.split(",", -1)) {
                String type = part.split(";", -1)[0].strip().toLowerCase(Locale.ROOT);
                if (type.equals(wanted) || ANY_FORMAT.contains(type)) {
                    return;
                }
                other |= type.startsWith("application/vnd.kafka.");
            }
        }
        if (!accepted.isEmpty()) {
            throw new Problem(
                            other ? ProblemType.WRONG_FORMAT : ProblemType.NOT_ACCEPTABLE,
                            "the records of this instance are " + wanted,
                            "send Accept: " + wanted + ", or create an instance of another format")
                    .exception();
        }
    }

    /**
     * A route.
     *
     * @param description the bodies of all of them are small and optional objects
     */
    private record ConsumerRoute(
            HttpMethod method, String template, RouteDescription description, Consumer<ConsumerRequest> operation)
            implements Route {
        @Override
        public ErrorForm errors() {
            return ERRORS;
        }

        @Override
        public RequestBody open(HttpExchange exchange) {
            return ConsumerRequest.open(exchange, operation);
        }
    }
}
