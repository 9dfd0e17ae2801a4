package io.journalq.server.broker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.CreateTopicsRequest;
import io.journalq.common.protocol.message.CreateTopicsResponse;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Each wrong input leaves one line in the log, which names the client and says what is wrong. */
class BadInputLogTest {
    private static final byte[] VALUE = "value".getBytes(UTF_8);

    @TempDir
    private Path folder;

    private final FullDisk disk = new FullDisk();
    private final Lines lines = new Lines();
    private final Logger logger = (Logger) LoggerFactory.getLogger("io.journalq");
    private TestBroker broker;

    /** Warnings and errors since the last look. */
    private static final class Lines extends AppenderBase<ILoggingEvent> {
        private final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
                seen.add(event.getFormattedMessage());
            }
        }
    }

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(folder)
                .with("socket.request.max.bytes", "2000000")
                .start(disk.store());
        broker.createTopic("t", 1, Map.of());
        lines.start();
        logger.setLevel(Level.WARN);
        logger.setAdditive(false);
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
        logger.setAdditive(true);
        logger.setLevel(null);
        broker.close();
    }

    @Test
    void shouldLeaveOneLineForEachWrongInput() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            ByteBuf corrupt = WireClient.batch(3, VALUE);
            corrupt.setByte(corrupt.writerIndex() - 2, 'X');
            assertThat(client.produce("t", 0, corrupt).errorCode()).isEqualTo(ErrorCode.CORRUPT_MESSAGE.code());
            assertOneLine("request refused", "topic t: CORRUPT_MESSAGE");

            ByteBuf large = WireClient.batch(1, new byte[1_100_000]);
            assertThat(client.produce("t", 0, large).errorCode()).isEqualTo(ErrorCode.MESSAGE_TOO_LARGE.code());
            assertOneLine("request refused", "topic t: MESSAGE_TOO_LARGE", "max.message.bytes");

            assertThat(createTopic(client, "../x\n[main] ERROR")).isEqualTo(ErrorCode.INVALID_TOPIC_EXCEPTION.code());
            assertOneLine("request refused", "topic ../x?[main] ERROR: INVALID_TOPIC_EXCEPTION");

            disk.full = true;
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                    .isEqualTo(ErrorCode.KAFKA_STORAGE_ERROR.code());
            assertOneLine("cannot write", "No space left on device");
            disk.full = false;
        }
        assertOneLineWhenSent(new byte[] {0x7f, 0, 0, 0}, "connection closed", "the limit is 2000000");
        byte[] frame = WireClient.frame(1, WireClient.produceRequest("t", 0, WireClient.batch(1, VALUE)), 9);
        byte[] unknownApi = frame.clone();
        unknownApi[5] = 127;
        assertOneLineWhenSent(unknownApi, "connection closed", "not served");

        try (WireClient client = new WireClient(broker.port())) {
            client.out.write(frame, 0, frame.length / 2);
        }
        assertOneLine("connection lost", "within a request");
        // and all is well
        try (WireClient client = new WireClient(broker.port())) {
            assertThat(client.produce("t", 0, WireClient.batch(1, VALUE)).errorCode())
                    .isZero();
        }
        assertThat(lines.seen).isEmpty();
    }

    private static short createTopic(WireClient client, String name) throws IOException {
        CreateTopicsRequest.CreatableTopic topic = new CreateTopicsRequest.CreatableTopic()
                .setName(name)
                .setNumPartitions(1)
                .setReplicationFactor((short) 1);
        CreateTopicsRequest request =
                new CreateTopicsRequest().setTimeoutMs(30_000).setTopics(List.of(topic));
        return client.call(CreateTopicsResponse.class, request, 5)
                .topics()
                .get(0)
                .errorCode();
    }

    private void assertOneLineWhenSent(byte[] bytes, String... words) throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            client.out.write(bytes);
            assertThat(client.in.read()).isEqualTo(-1);
        }
        assertOneLine(words);
    }

    private void assertOneLine(String... words) throws Exception {
        broker.await(() -> !lines.seen.isEmpty());
        assertThat(lines.seen).singleElement().asString().contains(words);
        lines.seen.clear();
    }
}
