package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.journal.ShutdownMarker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailedStartTest {
    private static final String CLEAN = "clean";

    @TempDir
    private Path directory;

    @BeforeEach
    void keepRecords() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            broker.createTopic("t", 2, Map.of());
            try (WireClient client = new WireClient(broker.port())) {
                client.produce("t", 0, WireClient.batch(1, "kept".getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    private String marker() throws IOException {
        return Files.readString(directory.resolve(ShutdownMarker.FILE_NAME));
    }

    private void assertServesItsRecords() throws Exception {
        try (TestBroker broker = new TestBroker(directory).start()) {
            assertThat(broker.readAll(List.of(new TopicPartition("t", 0)), 1)).hasSize(1);
        }
    }

    @Test
    void shouldCloseEveryJournalCleanlyWhenItsPortIsInUse() throws Exception {
        // given
        assertThat(marker()).isEqualTo(CLEAN);

        // when
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            TestBroker broker =
                    new TestBroker(directory).with("listeners", "PLAINTEXT://127.0.0.1:" + other.getLocalPort());
            assertThatThrownBy(broker::start)
                    .isInstanceOf(StartException.class)
                    .hasMessageContaining("cannot listen on");
        }

        // then
        assertThat(marker()).isEqualTo(CLEAN);
        assertServesItsRecords();
    }
}
