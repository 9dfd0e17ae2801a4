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
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaKeys;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.security.Right;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.function.Supplier;

/**
 * The routes of consumers in the API v2 of Confluent's REST proxy: {@code /consumers}. Their responses are those of {@link
 * ConsumerInstance}. Immutable, any thread.
 */
public final class ConsumerRoutes {
    static final String TYPE = "application/vnd.kafka.v2+json";
    static final String JSON = "application/vnd.kafka.json.v2+json";
    static final String BINARY = "application/vnd.kafka.binary.v2+json";

    /** Types of bodies. All of them are JSON. */
    private static final List<String> BODY_TYPES = List.of(TYPE, JSON, BINARY, RouteDescription.JSON);

    /** Types that stand for the format of an instance. */
    private static final List<String> ANY_FORMAT =
            List.of(TYPE, RouteDescription.JSON, "*/*", "application/*", "application/vnd.kafka+json");

    private static final int MAX_BODY_BYTES = 256 * 1024;

    /** Heap that a body needs when it is parsed, as a multiple of its size. */
    private static final int PARSED_FACTOR = 8;

    private static final int MAX_NAME_CHARS = 255;
    private static final int MAX_WAIT_MS = 60_000;
    private static final int DEFAULT_WAIT_MS = 1_000;
    private static final String REMEDY = "see docs/guides/http-confluent.md for examples";
    private static final ErrorForm ERRORS = new ConfluentErrors(TYPE);

    private static final String GROUP = "/consumers/{group}";
    private static final String INSTANCE = GROUP + "/instances/{instance}";

    private static final List<String> SETTINGS = List.of(
            "id",
            "name",
            "format",
            "auto.offset.reset",
            "auto.commit.enable",
            "enable.auto.commit",
            "fetch.min.bytes",
            "consumer.request.timeout.ms");

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
                                        TYPE,
                                        "{\"name\":\"consumer-1\",\"format\":\"json\",\"auto.offset.reset\":\"earliest\"}")
                                .responding(HttpResponseStatus.OK, TYPE),
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
                        (request, instance) -> request.submit(instance, () -> instance.showSubscription(request.call))),
                route(
                        HttpMethod.DELETE,
                        "/subscription",
                        "ends the subscription or the assignments",
                        null,
                        (request, instance) -> request.submit(instance, () -> instance.unsubscribe(request.call))),
                route(
                        HttpMethod.POST,
                        "/assignments",
                        "reads these partitions, outside of the group",
                        PARTITIONS,
                        this::assign),
                show(
                        "/assignments",
                        "shows the partitions that the instance reads",
                        (request, instance) -> request.submit(instance, () -> instance.showAssignments(request.call))),
                route(HttpMethod.POST, "/positions", "continues at these offsets", OFFSETS, (request, instance) -> {
                    Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
                    request.offsets().forEach((partition, offset) -> offsets.put(partition, offset.offset()));
                    request.submit(instance, () -> instance.seek(request.call, offsets));
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
                                .responding(HttpResponseStatus.OK, JSON),
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
                                .withBody(TYPE, PARTITIONS)
                                .responding(HttpResponseStatus.OK, TYPE),
                        onInstance((request, instance) -> {
                            Set<TopicPartition> partitions = request.partitions();
                            request.submit(instance, () -> instance.showCommitted(request.call, partitions));
                        })));
    }

    /** A route without a response body. */
    private ConsumerRoute route(
            HttpMethod method,
            String path,
            String summary,
            String example,
            BiConsumer<Request, ConsumerInstance> operation) {
        RouteDescription description = RouteDescription.of(summary).responding(HttpResponseStatus.NO_CONTENT, null);
        return new ConsumerRoute(
                method,
                INSTANCE + path,
                example == null ? description : description.withBody(TYPE, example),
                onInstance(operation));
    }

    private ConsumerRoute show(String path, String summary, BiConsumer<Request, ConsumerInstance> operation) {
        return new ConsumerRoute(
                HttpMethod.GET,
                INSTANCE + path,
                RouteDescription.of(summary).responding(HttpResponseStatus.OK, TYPE),
                onInstance(operation));
    }

    private Operation onInstance(BiConsumer<Request, ConsumerInstance> operation) {
        return request -> {
            HttpExchange exchange = request.exchange;
            ConsumerInstance instance = instances.find(
                    exchange,
                    new ConsumerInstances.Key(exchange.pathParameter("group"), exchange.pathParameter("instance")));
            request.call = new ConsumerCall(exchange, instance);
            request.instance = instance;
            operation.accept(request, instance);
        };
    }

    private void create(Request request) {
        HttpExchange exchange = request.exchange;
        String group = named(exchange.pathParameter("group"), "group");
        exchange.checkRight(ApiKey.CONSUMER_GROUP_HEARTBEAT, Right.READ_GROUP, group);
        JsonObject body = request.body();
        body.checkMembers(SETTINGS);
        String name = body.text("id") == null ? body.text("name") : body.text("id");
        String chosen = name == null ? "rest-consumer-" + UUID.randomUUID() : named(name, "name");
        ConsumerInstance.Settings settings = new ConsumerInstance.Settings(
                format(body), reset(body), autoCommit(body), number(body, "consumer.request.timeout.ms"));
        instances.create(exchange, new ConsumerInstances.Key(group, chosen), settings);
        String host = exchange.request().headers().get(HttpHeaderNames.HOST);
        String base = host == null ? "" : scheme + "://" + host;
        exchange.respond(
                HttpResponseStatus.OK,
                TYPE,
                JsonOut.object(exchange.allocator(), json -> {
                    json.writeStringField("instance_id", chosen);
                    json.writeStringField(
                            "base_uri", base + "/consumers/" + encoded(group) + "/instances/" + encoded(chosen));
                }),
                Map.of());
    }

    private static String named(String text, String member) {
        if (text.isEmpty() || text.length() > MAX_NAME_CHARS) {
            throw invalidSetting("\"" + member + "\" does not have 1 to " + MAX_NAME_CHARS + " characters");
        }
        return text;
    }

    private static String encoded(String segment) {
        return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static RecordDocument.Format format(JsonObject body) {
        String text = body.text("format");
        return switch (text == null ? "binary" : text.toLowerCase(Locale.ROOT)) {
            case "binary" -> RecordDocument.Format.BINARY;
            case "json" -> RecordDocument.Format.JSON;
            default -> throw invalidSetting("\"format\" is not binary or json; schemas are not supported");
        };
    }

    private static ConsumerStarts.Reset reset(JsonObject body) {
        String text = body.text("auto.offset.reset");
        return switch (text == null ? "latest" : text.toLowerCase(Locale.ROOT)) {
            case "earliest" -> ConsumerStarts.Reset.EARLIEST;
            case "latest" -> ConsumerStarts.Reset.LATEST;
            case "none" -> ConsumerStarts.Reset.NONE;
            default -> throw invalidSetting("\"auto.offset.reset\" is not earliest, latest or none");
        };
    }

    private static boolean autoCommit(JsonObject body) {
        String text = body.scalar(body.has("auto.commit.enable") ? "auto.commit.enable" : "enable.auto.commit");
        return switch (text == null ? "true" : text.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw invalidSetting("\"auto.commit.enable\" is not true or false");
        };
    }

    private static int number(JsonObject body, String member) {
        String text = body.scalar(member);
        if (text == null) {
            return DEFAULT_WAIT_MS;
        }
        long number = text.matches("\\d{1,9}") ? Long.parseLong(text) : -1;
        if (number < 0 || number > MAX_WAIT_MS) {
            throw invalidSetting("\"" + member + "\" is not a number from 0 to " + MAX_WAIT_MS);
        }
        return (int) number;
    }

    private static ProblemException invalidSetting(String detail) {
        return new Problem(ProblemType.CHANGE_REFUSED, detail, REMEDY).exception();
    }

    private void delete(Request request, ConsumerInstance instance) {
        request.goesOn = true;
        instance.run(() -> instance.delete(request.call::done));
    }

    private void subscribe(Request request, ConsumerInstance instance) {
        JsonObject body = request.body();
        body.checkMembers(List.of("topics", "topic_pattern"));
        Set<String> topics = new LinkedHashSet<>(body.list("topics", String.class));
        String pattern = body.text("topic_pattern");
        if (body.has("topics") == (pattern != null)) {
            throw JsonObject.invalid("it does not have either \"topics\" or \"topic_pattern\"", REMEDY);
        }
        if (topics.size() > ConsumerPositions.MAX_PARTITIONS) {
            throw JsonObject.invalid("it has more than " + ConsumerPositions.MAX_PARTITIONS + " topics", REMEDY);
        }
        for (String topic : topics) {
            request.exchange.checkRight(ApiKey.FETCH, Right.READ_TOPIC, topic);
        }
        if (pattern != null) {
            checkPattern(pattern);
        }
        boolean nothing = topics.isEmpty() && pattern == null;
        request.submit(instance, () -> {
            if (nothing) {
                instance.unsubscribe(request.call);
            } else {
                instance.subscribe(request.call, topics, pattern);
            }
        });
    }

    private static void checkPattern(String pattern) {
        try {
            Pattern.compile(pattern);
        } catch (PatternSyntaxException invalid) {
            throw JsonObject.invalid(
                    "\"topic_pattern\" is not a regular expression of RE2: " + invalid.getMessage(), REMEDY);
        }
        if (pattern.isEmpty()) {
            throw JsonObject.invalid("\"topic_pattern\" is empty", REMEDY);
        }
    }

    private void assign(Request request, ConsumerInstance instance) {
        Set<TopicPartition> partitions = request.partitions();
        if (partitions.size() > ConsumerPositions.MAX_PARTITIONS) {
            throw JsonObject.invalid("it has more than " + ConsumerPositions.MAX_PARTITIONS + " partitions", REMEDY);
        }
        for (TopicPartition partition : partitions) {
            request.exchange.checkRight(ApiKey.FETCH, Right.READ_TOPIC, partition.topic());
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
        request.submit(instance, () -> instance.assign(request.call, partitions));
    }

    private static void seek(Request request, ConsumerInstance instance, long timestamp) {
        Set<TopicPartition> partitions = request.partitions();
        request.submit(instance, () -> instance.seek(request.call, partitions, timestamp));
    }

    /** Commits what the client names: records, behind which the next one is committed. */
    private static void commit(Request request, ConsumerInstance instance) {
        if (request.isEmpty()) {
            request.submit(instance, () -> instance.commit(request.call, null));
            return;
        }
        Map<TopicPartition, SeatOffsets.Committed> offsets = new LinkedHashMap<>();
        request.offsets()
                .forEach((partition, offset) ->
                        offsets.put(partition, new SeatOffsets.Committed(offset.offset() + 1, offset.metadata())));
        request.submit(instance, () -> instance.commit(request.call, offsets));
    }

    private void read(Request request, ConsumerInstance instance) {
        HttpExchange exchange = request.exchange;
        exchange.checkQuota(QuotaKeys.FETCH_BYTES);
        checkFormat(exchange, instance.settings().format());
        long waitMs = parameter(
                exchange, "timeout", 0, MAX_WAIT_MS, instance.settings().requestTimeoutMs());
        long maxBytes = parameter(exchange, "max_bytes", 1, Long.MAX_VALUE, ConsumerRead.MAX_BYTES);
        request.submit(instance, () -> instance.read(request.call, waitMs, maxBytes));
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
        String wanted = format == RecordDocument.Format.JSON ? JSON : BINARY;
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

    /** Serves a request whose body is complete, on the loop of its connection. */
    @FunctionalInterface
    private interface Operation {
        void run(Request request);
    }

    /**
     * A route.
     *
     * @param description the bodies of all of them are small and optional objects
     */
    private record ConsumerRoute(HttpMethod method, String template, RouteDescription description, Operation operation)
            implements Route {
        @Override
        public ErrorForm errors() {
            return ERRORS;
        }

        @Override
        public RequestBody open(HttpExchange exchange) {
            if (exchange.bodyLength() > MAX_BODY_BYTES) {
                throw tooLarge();
            }
            return new Request(exchange, operation);
        }
    }

    private static ProblemException tooLarge() {
        return new Problem(ProblemType.BODY_TOO_LARGE, "the body is larger than 256 KiB", "send several requests")
                .exception();
    }

    /** Collects the body, and knows what it says. On the connection's loop. */
    private static final class Request implements RequestBody {
        private final HttpExchange exchange;
        private final Operation operation;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(0);

        /** Null before an instance was found. */
        private ConsumerInstance instance;

        private ConsumerCall call;

        /** Whether the call goes on if the client leaves. */
        private boolean goesOn;

        /**
         * An offset that the client has sent.
         *
         * @param metadata a text, which may be empty
         */
        private record Sent(long offset, String metadata) {}

        Request(HttpExchange exchange, Operation operation) {
            this.exchange = exchange;
            this.operation = operation;
        }

        @Override
        public long reservedBytes() {
            long length = exchange.bodyLength();
            return PARSED_FACTOR * (length == HttpExchange.UNKNOWN_LENGTH ? MAX_BODY_BYTES : length);
        }

        @Override
        public void onData(ByteBuf data) {
            if (bytes.size() + data.readableBytes() > MAX_BODY_BYTES) {
                throw tooLarge();
            }
            try {
                data.getBytes(data.readerIndex(), bytes, data.readableBytes());
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }

        @Override
        public void onEnd() {
            if (!isEmpty() && !BODY_TYPES.contains(exchange.bodyType())) {
                throw new Problem(
                                ProblemType.UNSUPPORTED_MEDIA_TYPE,
                                "the Content-Type is not that of a request of the API v2",
                                "send " + TYPE)
                        .exception();
            }
            operation.run(this);
        }

        boolean isEmpty() {
            return bytes.size() == 0;
        }

        JsonObject body() {
            return JsonObject.parse(bytes.toByteArray(), REMEDY);
        }

        /** The partitions that the body names. */
        Set<TopicPartition> partitions() {
            JsonObject body = body();
            body.checkMembers(List.of("partitions"));
            if (!body.has("partitions")) {
                throw JsonObject.invalid("it has no \"partitions\"", REMEDY);
            }
            Set<TopicPartition> partitions = new LinkedHashSet<>();
            for (JsonObject each : body.list("partitions", JsonObject.class)) {
                each.checkMembers(List.of("topic", "partition"));
                partitions.add(partition(each));
            }
            return partitions;
        }

        private static TopicPartition partition(JsonObject object) {
            if (!object.has("partition")) {
                throw JsonObject.invalid("a partition has no \"partition\"", REMEDY);
            }
            return new TopicPartition(object.required("topic"), object.number("partition", 0, 0, Integer.MAX_VALUE));
        }

        /** The offsets that the body names. */
        Map<TopicPartition, Sent> offsets() {
            JsonObject body = body();
            body.checkMembers(List.of("offsets"));
            if (!body.has("offsets")) {
                throw JsonObject.invalid("it has no \"offsets\"", REMEDY);
            }
            Map<TopicPartition, Sent> offsets = new LinkedHashMap<>();
            for (JsonObject each : body.list("offsets", JsonObject.class)) {
                each.checkMembers(List.of("topic", "partition", "offset", "metadata"));
                Long offset = each.number("offset");
                if (offset == null || offset < 0) {
                    throw JsonObject.invalid("an \"offset\" is missing or negative", REMEDY);
                }
                String metadata = each.text("metadata");
                offsets.put(partition(each), new Sent(offset, metadata == null ? "" : metadata));
            }
            return offsets;
        }

        /** Serves the request when the instance has served those before it. */
        void submit(ConsumerInstance to, Runnable work) {
            to.run(() -> to.submit(call, work));
        }

        @Override
        public void onClosed() {
            if (call != null && !goesOn && !call.isEnded()) {
                instance.run(call::onClientLeft);
            }
        }
    }
}
