package io.journalq.server.gateway.http;

import com.fasterxml.jackson.core.JsonGenerator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code GET /v1/openapi.json}: describes all routes but those of the console, for generators of clients. The document is
 * derived from the routes themselves. Immutable, any thread.
 *
 * <p>Source: OpenAPI 3.1.0.
 */
public final class OpenApiRoute implements Route {
    private static final String BEGIN = "/v1/";

    /** The beginnings of the paths that are described. All but the first are those of other REST proxies. */
    private static final List<String> BEGINNINGS = List.of(BEGIN, "/v3/", "/topics/", "/consumers/");

    private static final String FOREIGN = "confluent";
    private static final List<String> NUMBERS = List.of("status", "error_code");
    private static final RouteDescription DESCRIPTION = RouteDescription.of("describes the gateway: this document");

    /** Values of parameters in paths, with which the examples of the document work in this order. */
    private static final Map<String, String> PATH_EXAMPLES = Map.of(
            "topic",
            "orders",
            "group",
            "billing",
            "broker",
            "0",
            "id",
            "payments",
            "partition",
            "0",
            "cluster",
            "any",
            "instance",
            "consumer-1");

    private final byte[] document;

    /**
     * Creates the route.
     *
     * @param others the other routes
     * @param version of this program
     */
    public OpenApiRoute(List<Route> others, String version) {
        List<Route> routes = new ArrayList<>(others);
        routes.add(this);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JsonOut.generator(bytes)) {
            writeDocument(json, routes, version);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        document = bytes.toByteArray();
    }

    private static void writeDocument(JsonGenerator json, List<Route> routes, String version) throws IOException {
        Map<String, List<Route>> byPath = new LinkedHashMap<>();
        for (Route route : routes) {
            if (isDescribed(route)) {
                byPath.computeIfAbsent(route.template(), path -> new ArrayList<>())
                        .add(route);
            }
        }
        json.writeStartObject();
        json.writeStringField("openapi", "3.1.0");
        json.writeObjectFieldStart("info");
        json.writeStringField("title", "JournalQ HTTP gateway");
        json.writeStringField("version", version);
        json.writeEndObject();
        json.writeObjectFieldStart("paths");
        for (Map.Entry<String, List<Route>> path : byPath.entrySet()) {
            json.writeObjectFieldStart(path.getKey());
            writePathParameters(json, path.getKey());
            for (Route route : path.getValue()) {
                writeOperation(json, route);
            }
            json.writeEndObject();
        }
        json.writeEndObject();
        writeProblem(json);
        json.writeEndObject();
    }

    private static boolean isDescribed(Route route) {
        return BEGINNINGS.stream().anyMatch(route.template()::startsWith);
    }

    private static boolean isForeign(Route route) {
        return !route.template().startsWith(BEGIN);
    }

    private static void writePathParameters(JsonGenerator json, String template) throws IOException {
        json.writeArrayFieldStart("parameters");
        for (String segment : template.split("/", -1)) {
            if (segment.startsWith("{")) {
                String name = segment.substring(1, segment.length() - 1);
                json.writeStartObject();
                json.writeStringField("name", name);
                json.writeStringField("in", "path");
                json.writeBooleanField("required", true);
                writeText(json);
                json.writeStringField("example", PATH_EXAMPLES.get(name));
                json.writeEndObject();
            }
        }
        json.writeEndArray();
    }

    private static void writeText(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("schema");
        json.writeStringField("type", "string");
        json.writeEndObject();
    }

    private static void writeOperation(JsonGenerator json, Route route) throws IOException {
        RouteDescription description = route.description();
        json.writeObjectFieldStart(route.method().name().toLowerCase(Locale.ROOT));
        json.writeStringField("operationId", operationId(route));
        json.writeStringField("summary", description.summary());
        json.writeArrayFieldStart("tags");
        json.writeString(
                isForeign(route)
                        ? FOREIGN
                        : route.template().substring(BEGIN.length()).split("/", -1)[0]);
        json.writeEndArray();
        json.writeArrayFieldStart("parameters");
        for (RouteDescription.Parameter parameter : description.parameters()) {
            json.writeStartObject();
            json.writeStringField("name", parameter.name());
            json.writeStringField("in", "query");
            json.writeBooleanField("required", parameter.example() != null);
            json.writeStringField("description", parameter.meaning());
            writeText(json);
            if (parameter.example() != null) {
                json.writeStringField("example", parameter.example());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
        if (!description.bodies().isEmpty()) {
            json.writeObjectFieldStart("requestBody");
            json.writeBooleanField("required", true);
            json.writeObjectFieldStart("content");
            for (Map.Entry<String, String> body : description.bodies().entrySet()) {
                writeContent(json, body.getKey(), body.getValue());
            }
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeObjectFieldStart("responses");
        json.writeObjectFieldStart(String.valueOf(description.status().code()));
        json.writeStringField("description", description.status().reasonPhrase());
        if (description.responseType() != null) {
            json.writeObjectFieldStart("content");
            writeContent(json, description.responseType(), "");
            json.writeEndObject();
        }
        json.writeEndObject();
        json.writeObjectFieldStart("default");
        json.writeStringField("$ref", "#/components/responses/" + (isForeign(route) ? "ConfluentError" : "Problem"));
        json.writeEndObject();
        json.writeEndObject();
        json.writeEndObject();
    }

    /**
     * {@code GET /v1/topics/{topic}/records} is {@code getTopicsTopicRecords}, and {@code POST /topics/{topic}} is {@code
     * postConfluentTopicsTopic}.
     */
    private static String operationId(Route route) {
        StringBuilder id = new StringBuilder(route.method().name().toLowerCase(Locale.ROOT));
        String name =
                isForeign(route) ? FOREIGN + route.template() : route.template().substring(BEGIN.length());
        for (String word : name.split("[^a-zA-Z0-9]+", -1)) {
            if (!word.isEmpty()) {
                id.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
            }
        }
        return id.toString();
    }

    private static void writeContent(JsonGenerator json, String type, String example) throws IOException {
        boolean object = type.endsWith("json");
        json.writeObjectFieldStart(type);
        json.writeObjectFieldStart("schema");
        json.writeStringField("type", !object ? "string" : example.startsWith("[") ? "array" : "object");
        json.writeEndObject();
        if (!example.isEmpty()) {
            json.writeFieldName("example");
            if (object && !type.endsWith("ndjson")) {
                json.writeRawValue(example);
            } else {
                json.writeString(example);
            }
        }
        json.writeEndObject();
    }

    /** The forms of errors: RFC 9457, and that of Confluent's REST proxy. */
    private static void writeProblem(JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("components");
        json.writeObjectFieldStart("responses");
        writeError(
                json,
                "Problem",
                List.of("application/problem+json"),
                List.of("type", "title", "status", "detail", "remedy"));
        writeError(
                json,
                "ConfluentError",
                List.of("application/vnd.kafka.v2+json", "application/json"),
                List.of("error_code", "message"));
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void writeError(JsonGenerator json, String name, List<String> types, List<String> members)
            throws IOException {
        json.writeObjectFieldStart(name);
        json.writeStringField("description", "The request was refused, or has failed.");
        json.writeObjectFieldStart("content");
        for (String type : types) {
            json.writeObjectFieldStart(type);
            json.writeObjectFieldStart("schema");
            json.writeStringField("type", "object");
            json.writeObjectFieldStart("properties");
            for (String member : members) {
                json.writeObjectFieldStart(member);
                json.writeStringField("type", NUMBERS.contains(member) ? "integer" : "string");
                json.writeEndObject();
            }
            json.writeEndObject();
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndObject();
        json.writeEndObject();
    }

    @Override
    public HttpMethod method() {
        return HttpMethod.GET;
    }

    @Override
    public String template() {
        return "/v1/openapi.json";
    }

    @Override
    public RouteDescription description() {
        return DESCRIPTION;
    }

    @Override
    public RequestBody open(HttpExchange exchange) {
        return new RequestBody() {
            @Override
            public void onData(ByteBuf data) {
                throw HttpExchange.invalid("a GET request has no body", "leave it out");
            }

            @Override
            public void onEnd() {
                exchange.respond(HttpResponseStatus.OK, Unpooled.wrappedBuffer(document));
            }

            @Override
            public void onClosed() {
                // Nothing is held.
            }
        };
    }
}
