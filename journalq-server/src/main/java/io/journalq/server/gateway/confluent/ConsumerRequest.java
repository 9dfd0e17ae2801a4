package io.journalq.server.gateway.confluent;

import io.journalq.common.id.TopicPartition;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A request to the routes of consumers: collects its body, knows what it says, and passes the request to its instance.
 * On the connection's loop.
 */
final class ConsumerRequest implements RequestBody {
    /** Types of bodies. All of them are JSON. */
    private static final List<String> BODY_TYPES =
            List.of(MediaTypes.V2, MediaTypes.JSON_V2, MediaTypes.BINARY_V2, RouteDescription.JSON);

    private static final int MAX_BODY_BYTES = 256 * 1024;

    /** Heap that a body needs when it is parsed, as a multiple of its size. */
    private static final int PARSED_FACTOR = 8;

    private final HttpExchange exchange;
    private final Consumer<ConsumerRequest> operation;
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
    record Sent(long offset, String metadata) {}

    private ConsumerRequest(HttpExchange exchange, Consumer<ConsumerRequest> operation) {
        this.exchange = exchange;
        this.operation = operation;
    }

    /**
     * Begins a request, whose body comes next.
     *
     * @param operation serves the request when its body is complete
     * @throws ProblemException if the body is too large
     */
    static ConsumerRequest open(HttpExchange exchange, Consumer<ConsumerRequest> operation) {
        if (exchange.bodyLength() > MAX_BODY_BYTES) {
            throw tooLarge();
        }
        return new ConsumerRequest(exchange, operation);
    }

    private static ProblemException tooLarge() {
        return new Problem(ProblemType.BODY_TOO_LARGE, "the body is larger than 256 KiB", "send several requests")
                .exception();
    }

    HttpExchange exchange() {
        return exchange;
    }

    /** The instance of the request was found. */
    void begin(ConsumerInstance found) {
        call = new ConsumerCall(exchange, found);
        instance = found;
    }

    /** The call to the instance; null before {@link #begin}. */
    ConsumerCall call() {
        return call;
    }

    /** The call goes on if the client leaves. */
    void goOnWithoutClient() {
        goesOn = true;
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
                            "send " + MediaTypes.V2)
                    .exception();
        }
        operation.accept(this);
    }

    boolean isEmpty() {
        return bytes.size() == 0;
    }

    JsonObject body() {
        return JsonObject.parse(bytes.toByteArray(), ConfluentErrors.EXAMPLES);
    }

    /** The partitions that the body names. */
    Set<TopicPartition> partitions() {
        JsonObject body = body();
        body.checkMembers(List.of("partitions"));
        if (!body.has("partitions")) {
            throw JsonObject.invalid("it has no \"partitions\"", ConfluentErrors.EXAMPLES);
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
            throw JsonObject.invalid("a partition has no \"partition\"", ConfluentErrors.EXAMPLES);
        }
        return new TopicPartition(object.required("topic"), object.number("partition", 0, 0, Integer.MAX_VALUE));
    }

    /** The offsets that the body names. */
    Map<TopicPartition, Sent> offsets() {
        JsonObject body = body();
        body.checkMembers(List.of("offsets"));
        if (!body.has("offsets")) {
            throw JsonObject.invalid("it has no \"offsets\"", ConfluentErrors.EXAMPLES);
        }
        Map<TopicPartition, Sent> offsets = new LinkedHashMap<>();
        for (JsonObject each : body.list("offsets", JsonObject.class)) {
            each.checkMembers(List.of("topic", "partition", "offset", "metadata"));
            Long offset = each.number("offset");
            if (offset == null || offset < 0) {
                throw JsonObject.invalid("an \"offset\" is missing or negative", ConfluentErrors.EXAMPLES);
            }
            String metadata = each.text("metadata");
            offsets.put(partition(each), new Sent(offset, metadata == null ? "" : metadata));
        }
        return offsets;
    }

    /** Serves the request when the instance has served those before it. */
    void submit(Runnable work) {
        instance.run(() -> instance.submit(call, work));
    }

    @Override
    public void onClosed() {
        if (call != null && !goesOn && !call.isEnded()) {
            instance.run(call::onClientLeft);
        }
    }
}
