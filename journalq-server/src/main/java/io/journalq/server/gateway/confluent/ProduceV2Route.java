package io.journalq.server.gateway.confluent;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.gateway.http.ErrorForm;
import io.journalq.server.gateway.http.HttpExchange;
import io.journalq.server.gateway.http.JsonOut;
import io.journalq.server.gateway.http.RequestBody;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemException;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.produce.Targets;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;

/**
 * {@code POST /topics/{topic}} and {@code POST /topics/{topic}/partitions/{partition}}: appends records as Confluent's REST
 * proxy does (API v2), in the formats JSON and binary. Nothing is appended unless the body is valid. Immutable, any thread.
 *
 * @param targets finds the topics
 * @param ofPartition whether the path names the partition
 */
public record ProduceV2Route(Targets targets, boolean ofPartition) implements Route {
    private static final int COST_FACTOR = 4;

    /** Codes of records that were not appended. */
    private static final int FINAL_ERROR = 1;

    private static final int RETRIABLE_ERROR = 2;
    private static final RouteDescription DESCRIPTION = RouteDescription.of(
                    "appends records, as Confluent's REST proxy (v2)")
            .withBody(MediaTypes.JSON_V2, "{\"records\":[{\"key\":\"k1\",\"value\":{\"item\":\"coffee\"}}]}")
            .withBody(MediaTypes.BINARY_V2, "{\"records\":[{\"key\":\"azE=\",\"value\":\"Y29mZmVl\"}]}")
            .responding(HttpResponseStatus.OK, MediaTypes.V2);
    private static final ErrorForm ERRORS = new ConfluentErrors(MediaTypes.V2);

    @Override
    public HttpMethod method() {
        return HttpMethod.POST;
    }

    @Override
    public String template() {
        return ofPartition ? "/topics/{topic}/partitions/{partition}" : "/topics/{topic}";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public ErrorForm errors() {
        return ERRORS;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        RecordDocument.Format format =
                switch (exchange.bodyType()) {
                    case MediaTypes.JSON_V2 -> RecordDocument.Format.JSON;
                    case MediaTypes.BINARY_V2 -> RecordDocument.Format.BINARY;
                    default ->
                        throw new Problem(
                                        ProblemType.UNSUPPORTED_MEDIA_TYPE,
                                        "the Content-Type is not that of records without a schema",
                                        "send " + MediaTypes.JSON_V2 + " or " + MediaTypes.BINARY_V2)
                                .exception();
                };
        if (exchange.bodyLength() > RecordDocument.MAX_BYTES) {
            throw tooLarge();
        }
        Targets.Target target = targets.find(exchange, exchange.pathParameter("topic"));
        Integer partition = ofPartition ? partition(exchange, target) : null;
        return new Body(exchange, target, partition, format);
    }

    private static Integer partition(HttpExchange exchange, Targets.Target target) {
        try {
            return target.checked(Integer.parseInt(exchange.pathParameter("partition")));
        } catch (NumberFormatException noNumber) {
            return target.checked(-1);
        }
    }

    private static ProblemException tooLarge() {
        return new Problem(ProblemType.BODY_TOO_LARGE, "the body is larger than 1 MiB", "send several requests")
                .exception();
    }

    /** Collects the body. On the connection's loop. */
    private static final class Body implements RequestBody {
        private final HttpExchange exchange;
        private final Targets.Target target;
        private final Integer partition;
        private final RecordDocument.Format format;
        private final RecordAppend append;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(0);

        Body(HttpExchange exchange, Targets.Target target, Integer partition, RecordDocument.Format format) {
            this.exchange = exchange;
            this.target = target;
            this.partition = partition;
            this.format = format;
            this.append = new RecordAppend(exchange, target);
        }

        /** For the body, while its buffer grows, and the batches. */
        @Override
        public long reservedBytes() {
            long length = exchange.bodyLength();
            return 3 * (length == HttpExchange.UNKNOWN_LENGTH ? RecordDocument.MAX_BYTES : length);
        }

        @Override
        public void onData(ByteBuf data) {
            if (bytes.size() + data.readableBytes() > RecordDocument.MAX_BYTES) {
                throw tooLarge();
            }
            try {
                data.getBytes(data.readerIndex(), bytes, data.readableBytes());
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
            exchange.charge((long) (COST_FACTOR - 1) * data.readableBytes());
        }

        @Override
        public void onEnd() {
            long nowMs = target.epochMs().getAsLong();
            for (RecordDocument.Sent record : RecordDocument.readV2(bytes.toByteArray(), format)) {
                Integer chosen = partition == null ? record.partition() : partition;
                append.add(
                        chosen == null ? target.partition(record.key()) : target.checked(chosen),
                        nowMs,
                        record.key(),
                        record.value(),
                        record.headers());
            }
            append.send(this::respond);
        }

        private void respond(List<RecordAppend.Result> results) {
            ByteBuf document = JsonOut.object(exchange.allocator(), json -> {
                json.writeArrayFieldStart("offsets");
                for (RecordAppend.Result result : results) {
                    write(json, result);
                }
                json.writeEndArray();
                json.writeNullField("key_schema_id");
                json.writeNullField("value_schema_id");
            });
            exchange.respond(HttpResponseStatus.OK, MediaTypes.V2, document, Map.of());
        }

        private static void write(JsonGenerator json, RecordAppend.Result result) throws IOException {
            json.writeStartObject();
            json.writeNumberField("partition", result.partition());
            if (result.error() == ErrorCode.NONE) {
                json.writeNumberField("offset", result.offset());
                json.writeNullField("error_code");
                json.writeNullField("error");
            } else {
                json.writeNullField("offset");
                json.writeNumberField("error_code", result.error().retriable() ? RETRIABLE_ERROR : FINAL_ERROR);
                json.writeStringField(
                        "error", result.message() == null ? result.error().words() : result.message());
            }
            json.writeEndObject();
        }

        @Override
        public void onClosed() {
            append.close();
        }
    }
}
