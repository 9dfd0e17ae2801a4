package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The OpenAPI document of the gateway: each of its examples works. */
@Timeout(120)
class OpenApiTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> METHODS = Set.of("get", "post", "patch", "delete");

    @TempDir
    private Path directory;

    private record Operation(String path, String method, JsonNode node) {
        int status() {
            return Integer.parseInt(node.get("responses").fieldNames().next());
        }
    }

    @Test
    void shouldRespondAsDescribedWhenEveryExampleIsSent() throws Exception {
        try (TestBroker broker = new TestBroker(directory)
                        .with("gateway.listener", "127.0.0.1:0")
                        .with("authorization.enabled", "true")
                        .with("super.users", "User:ANONYMOUS")
                        .start();
                Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + broker.port()));
                KafkaProducer<String, String> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", "127.0.0.1:" + broker.port(), "transactional.id", "payments"),
                        new StringSerializer(),
                        new StringSerializer())) {
            // given what the parameters of the examples name
            broker.createTopic("orders", 1, Map.of());
            admin.alterConsumerGroupOffsets(
                            "billing", Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(0)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", "tea")).get(20, TimeUnit.SECONDS);
            GatewayClient gateway = new GatewayClient(broker.gatewayPort());
            JsonNode document = JSON.readTree(gateway.get("/v1/openapi.json").body());

            // when
            List<Operation> operations = operations(document);
            Set<String> ids = new TreeSet<>();
            int examples = 0;
            for (Operation operation : operations) {
                ids.add(operation.node().get("operationId").asText());
                examples += send(gateway, broker.gatewayPort(), operation);
            }

            // then
            assertThat(ids).hasSameSizeAs(operations).contains("getTopicsTopicRecords", "getOpenapiJson");
            assertThat(examples).isGreaterThan(operations.size());
            assertThat(document.at("/openapi").asText()).isEqualTo("3.1.0");
            assertThat(document.at("/components/responses/Problem/content").fieldNames())
                    .toIterable()
                    .containsExactly("application/problem+json");
            producer.abortTransaction();
        }
    }

    /**
     * All operations. Those that delete what others need come last, groups before topics. The subscription of a consumer
     * is deleted before it gets assignments.
     */
    private static List<Operation> operations(JsonNode document) {
        List<Operation> all = new ArrayList<>();
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(field -> {
                    if (METHODS.contains(field.getKey())) {
                        all.add(new Operation(
                                withExamples(path.getKey(), path.getValue()), field.getKey(), field.getValue()));
                    }
                }));
        all.sort(Comparator.comparing(operation ->
                operation.method().equals("delete") && !operation.path().endsWith("/subscription")
                        ? operation.path()
                        : ""));
        return all;
    }

    private static String withExamples(String template, JsonNode path) {
        String target = template;
        for (JsonNode parameter : path.get("parameters")) {
            target = target.replace(
                    "{" + parameter.get("name").asText() + "}",
                    parameter.get("example").asText());
        }
        return target;
    }

    /** Sends the examples of an operation; returns their number. */
    private static int send(GatewayClient gateway, int port, Operation operation) throws Exception {
        StringBuilder target = new StringBuilder(operation.path());
        for (JsonNode parameter : operation.node().get("parameters")) {
            if (parameter.get("required").asBoolean()) {
                target.append(target.indexOf("?") < 0 ? '?' : '&')
                        .append(parameter.get("name").asText())
                        .append('=')
                        .append(parameter.get("example").asText());
            }
        }
        if (operation.status() == 101) {
            WebSocket socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .subprotocols("journalq.json.v1")
                    .buildAsync(URI.create("ws://127.0.0.1:" + port + target), new WebSocket.Listener() {})
                    .get(20, TimeUnit.SECONDS);
            socket.abort();
            return 1;
        }
        JsonNode bodies = operation.node().at("/requestBody/content");
        if (bodies.isMissingNode()) {
            // DELETE needs a type, as no form of a foreign web page can send it.
            HttpRequest.Builder request = gateway.request(target.toString())
                    .method(operation.method().toUpperCase(Locale.ROOT), BodyPublishers.noBody());
            check(
                    gateway,
                    operation.method().equals("get") ? request : request.header("Content-Type", "application/json"),
                    operation);
            return 1;
        }
        int sent = 0;
        for (String type : (Iterable<String>) bodies::fieldNames) {
            JsonNode example = bodies.get(type).get("example");
            if (example != null) {
                HttpRequest.Builder request = gateway.request(target.toString())
                        .header("Content-Type", type)
                        .method(
                                operation.method().toUpperCase(Locale.ROOT),
                                BodyPublishers.ofString(example.isTextual() ? example.asText() : example.toString()));
                check(gateway, request, operation);
                sent++;
            }
        }
        return sent;
    }

    private static void check(GatewayClient gateway, HttpRequest.Builder request, Operation operation)
            throws Exception {
        HttpResponse<InputStream> response = gateway.stream(request);
        try (InputStream body = response.body()) {
            String type = response.headers().firstValue("Content-Type").orElse("");
            boolean endless = type.startsWith("text/event-stream");
            String text = endless ? "" : new String(body.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(response.statusCode())
                    .as("%s %s: %s", operation.method(), operation.path(), text)
                    .isEqualTo(operation.status());
            JsonNode types = operation.node().at("/responses/" + operation.status() + "/content");
            assertThat(type)
                    .as("%s %s", operation.method(), operation.path())
                    .startsWith(types.isMissingNode() ? "" : types.fieldNames().next());
        }
    }
}
