package io.journalq.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.common.id.TopicPartition;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PartitionMovesTest {
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Terminal terminal =
            new Terminal(new ByteArrayInputStream(new byte[0]), new ByteArrayOutputStream(), err, "");

    private static List<Move> moves() {
        return IntStream.range(0, 3)
                .mapToObj(number -> new Move(new TopicPartition("orders", number), List.of(0), List.of(1), 0))
                .toList();
    }

    @Test
    void shouldCountEachPartitionOfARequestThatFails() {
        // given nobody who takes requests
        try (Admin admin = Admin.builder()
                .bootstrapServers("127.0.0.1:1")
                .callTimeout(Duration.ofMillis(200))
                .build()) {
            PartitionMoves partitionMoves = new PartitionMoves(admin, terminal);

            // then
            assertThatThrownBy(() -> partitionMoves.run(moves(), false))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("3 partitions of 3 cannot move");
        }
        assertThat(err.toString(UTF_8)).doesNotContain("move now");
    }

    @Test
    void shouldCountThePartitionsThatTheBrokerRefuses() {
        try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start();
                Admin admin = Admin.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .build()) {
            PartitionMoves partitionMoves = new PartitionMoves(admin, terminal);

            // then each has an error of its own
            assertThatThrownBy(() -> partitionMoves.run(moves(), false))
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("3 partitions of 3 cannot move");
        }
        assertThat(err.toString(UTF_8).lines())
                .filteredOn(line -> line.contains("partition orders-"))
                .hasSize(3);
    }
}
