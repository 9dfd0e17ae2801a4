package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsRequest;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsResponse;
import io.journalq.common.protocol.message.PushTelemetryRequest;
import io.journalq.common.protocol.message.PushTelemetryResponse;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Client metrics (KIP-714), with single requests and with Kafka's own producer. */
class TelemetryTest {
    private static final Pattern PUSHES = Pattern.compile("(?m)^journalq_client_telemetry_pushes_total (\\d+)");

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("admin.listener", "127.0.0.1:0")
                .with("telemetry.max.bytes", "1000")
                .start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    private void subscribe(Map<String, String> configs) throws Exception {
        List<AlterConfigOp> changes = configs.entrySet().stream()
                .map(config -> new AlterConfigOp(new ConfigEntry(config.getKey(), config.getValue()), OpType.SET))
                .toList();
        try (Admin admin = broker.admin()) {
            admin.incrementalAlterConfigs(
                            Map.of(new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "all"), changes))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static GetTelemetrySubscriptionsResponse ask(WireClient client, Uuid id) throws IOException {
        return client.call(
                GetTelemetrySubscriptionsResponse.class,
                new GetTelemetrySubscriptionsRequest().setClientInstanceId(id),
                0);
    }

    private static ErrorCode push(WireClient client, PushTelemetryRequest request) throws IOException {
        return ErrorCode.of(client.call(PushTelemetryResponse.class, request, 0).errorCode());
    }

    @Test
    void shouldAskAClientForWhatItsSubscriptionsSayAndHoldItToThem() throws Exception {
        // given
        subscribe(Map.of("metrics", "org.apache.kafka.", "interval.ms", "3600000", "match", "client_id=wire-.*"));
        try (WireClient client = new WireClient(broker.port())) {
            // when a new client requests its subscriptions
            GetTelemetrySubscriptionsResponse asked = ask(client, Uuid.ZERO);

            // then it gets an id, and the list of metrics
            assertThat(asked.errorCode()).isZero();
            assertThat(asked.clientInstanceId()).isNotEqualTo(Uuid.ZERO);
            assertThat(asked.requestedMetrics()).containsExactly("org.apache.kafka.");
            assertThat(asked.pushIntervalMs()).isEqualTo(3_600_000);
            assertThat(asked.telemetryMaxBytes()).isEqualTo(1_000);
            assertThat(asked.acceptedCompressionTypes()).contains((byte) CompressionCodec.ZSTD.id());

            // and its pushes are accepted, once in each interval
            PushTelemetryRequest push = new PushTelemetryRequest()
                    .setClientInstanceId(asked.clientInstanceId())
                    .setSubscriptionId(asked.subscriptionId())
                    .setMetrics(metric("org.apache.kafka.producer.x", 1.5));
            assertThat(push(client, push)).isEqualTo(ErrorCode.NONE);
            assertThat(pushes()).isEqualTo(1);
            assertThat(push(client, push)).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
            assertThat(ErrorCode.of(ask(client, asked.clientInstanceId()).errorCode()))
                    .isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);

            // but the last push at any time, and none after it
            assertThat(push(client, push.setTerminating(true))).isEqualTo(ErrorCode.NONE);
            assertThat(push(client, push)).isEqualTo(ErrorCode.INVALID_REQUEST);
        }
    }

    @Test
    void shouldRefuseAPushWhenMemoryRunsOut() throws Exception {
        subscribe(Map.of("metrics", "*"));
        Logger logger = (Logger) LoggerFactory.getLogger("journalq.client.metrics");
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                throw new OutOfMemoryError("on purpose");
            }
        };
        appender.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(appender);
        try (WireClient client = new WireClient(broker.port())) {
            PushTelemetryRequest push = pushOf(client);
            client.socket.setSoTimeout(8_000);

            assertThat(push(client, push)).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
        } finally {
            logger.detachAppender(appender);
            logger.setLevel(null);
        }
    }

    @Test
    void shouldAskAClientForNothingThatNoSubscriptionSelects() throws Exception {
        subscribe(Map.of("metrics", "*", "match", "client_id=other,client_source_address=.*"));
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(ask(client, Uuid.ZERO).requestedMetrics()).isEmpty();
        }
    }

    @Test
    void shouldRefuseMetricsThatAreTooLargeOrUnreadableOrNotAskedFor() throws Exception {
        subscribe(Map.of("metrics", "*", "interval.ms", "3600000"));
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(push(client, pushOf(client).setMetrics(Unpooled.wrappedBuffer(new byte[1_001]))))
                    .isEqualTo(ErrorCode.TELEMETRY_TOO_LARGE);
            assertThat(push(client, pushOf(client).setMetrics(Unpooled.wrappedBuffer(new byte[] {10, 100}))))
                    .isEqualTo(ErrorCode.INVALID_RECORD);
            assertThat(push(client, pushOf(client).setCompressionType((byte) 9)))
                    .isEqualTo(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE);
            assertThat(push(client, pushOf(client).setClientInstanceId(Uuid.ZERO)))
                    .isEqualTo(ErrorCode.INVALID_REQUEST);
            PushTelemetryRequest stale = pushOf(client);
            assertThat(push(client, stale.setSubscriptionId(stale.subscriptionId() + 1)))
                    .isEqualTo(ErrorCode.UNKNOWN_SUBSCRIPTION_ID);
            // whose client may request its subscriptions at once
            assertThat(ask(client, stale.clientInstanceId()).errorCode()).isZero();
            assertThat(pushes()).isZero();
        }
    }

    @Test
    void shouldReadWhatKafkasProducerSends() throws Exception {
        subscribe(Map.of("metrics", "org.apache.kafka.producer.record", "interval.ms", "100"));
        broker.createTopic("orders", 1, Map.of());
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            producer.send(new ProducerRecord<>("orders", new byte[10])).get(30, TimeUnit.SECONDS);
            assertThat(producer.clientInstanceId(Duration.ofSeconds(30))).isNotNull();
            broker.await(() -> pushes() > 0);
        }
    }

    /** The push of a client that has just requested its subscriptions. */
    private static PushTelemetryRequest pushOf(WireClient client) throws IOException {
        GetTelemetrySubscriptionsResponse asked = ask(client, Uuid.ZERO);
        return new PushTelemetryRequest()
                .setClientInstanceId(asked.clientInstanceId())
                .setSubscriptionId(asked.subscriptionId())
                .setMetrics(metric("m", 1));
    }

    private long pushes() {
        try {
            Matcher found = PUSHES.matcher(broker.page("/metrics").body());
            assertThat(found.find()).isTrue();
            return Long.parseLong(found.group(1));
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }

    /** One gauge in OpenTelemetry's format. */
    private static ByteBuf metric(String name, double value) {
        ByteBuf point = Unpooled.buffer().writeByte(4 << 3 | 1).writeDoubleLE(value);
        ByteBuf metric = field(1, Unpooled.copiedBuffer(name, StandardCharsets.UTF_8));
        metric.writeBytes(field(5, field(1, point)));
        return field(1, field(2, field(2, metric)));
    }

    private static ByteBuf field(int number, ByteBuf content) {
        return Unpooled.buffer()
                .writeByte(number << 3 | 2)
                .writeByte(content.readableBytes())
                .writeBytes(content);
    }
}
