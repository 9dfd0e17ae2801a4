package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients of the gateway on the loop of their partitions, so that the handlers of the broker can respond at once. */
@Timeout(120)
class GatewayOneLoopTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("shards", "1")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic(Map<String, String> configs) throws Exception {
        topics++;
        String name = "t" + topics;
        broker.createTopic(name, 1, configs);
        return name;
    }

    @Test
    void shouldRespondWhenTheTopicRefusesALineAtOnce() throws Exception {
        String topic = topic(Map.of("max.message.bytes", "100"));
        String line = "{\"value\":\"" + "x".repeat(200) + "\"}\n";
        try (Socket socket = gateway.connect()) {
            socket.getOutputStream()
                    .write(("POST /v1/topics/" + topic + "/records HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                    + NDJSON + "\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    + Integer.toHexString(line.length()) + "\r\n" + line + "\r\n")
                            .getBytes(ISO_8859_1));

            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 413 ");
        }
    }

    @Test
    void shouldGiveEachRecordItsResultWhenTheTopicRefusesManyBatchesAtOnce() throws Exception {
        String topic = topic(Map.of("max.message.bytes", "100"));
        String record = "{\"value\":\"" + "x".repeat(50) + "\"}";
        int count = 10_000;

        HttpResponse<String> response = gateway.post(
                "/topics/" + topic,
                "application/vnd.kafka.json.v2+json",
                "{\"records\":[" + (record + ",").repeat(count - 1) + record + "]}");

        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode offsets = MAPPER.readTree(response.body()).get("offsets");
        assertThat(offsets).hasSize(count).allSatisfy(result -> assertThat(
                        result.get("error_code").asInt())
                .isEqualTo(1));
    }
}
