package io.journalq.cli.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.cluster.ReplicaPlan.Move;
import io.journalq.cli.shell.ClientProgram;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Admin;
import io.journalq.client.admin.ConfigEntry;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.id.TopicPartition;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class MoveCommandTest {
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Terminal terminal =
            new Terminal(new ByteArrayInputStream(new byte[0]), new ByteArrayOutputStream(), err, "");

    @Command(name = "program")
    private static final class OneBroker extends ClientProgram {
        private OneBroker(Terminal terminal, String address) {
            super(terminal, Map.of("JOURNALQ_BOOTSTRAP", address));
        }
    }

    /** Moves two partitions, one of them to a broker that does not exist. */
    @Command(name = "move")
    private static final class HalfPossible extends MoveCommand {
        @Override
        List<Move> moves(ClusterState state) {
            return List.of(
                    new Move(new TopicPartition("orders", 0), List.of(0), List.of(0), 0),
                    new Move(new TopicPartition("orders", 1), List.of(0), List.of(99), 0));
        }

        @Override
        String nothingToDo() {
            throw new AssertionError("two partitions move");
        }
    }

    private List<String> throttlesAfter(String... options) {
        try (EmbeddedBroker broker = JournalQ.embedded().inMemory().start();
                Admin admin = Admin.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .build()) {
            admin.createTopic(NewTopic.of("orders", 2));
            CommandLine program = new CommandLine(new OneBroker(terminal, broker.bootstrapServers()))
                    .addSubcommand(new CommandLine(new HalfPossible()));
            program.setExecutionExceptionHandler((failure, command, parsed) -> {
                terminal.tell(failure.toString());
                return 1;
            });
            assertThat(program.execute(options)).isEqualTo(1);
            ConfigResource topic = ConfigResource.topic("orders");
            return admin.describeConfigs(List.of(topic)).get(topic).stream()
                    .filter(entry -> entry.name().contains("throttled")
                            && entry.source() == ConfigEntry.Source.DYNAMIC_TOPIC_CONFIG)
                    .map(ConfigEntry::name)
                    .toList();
        }
    }

    @Test
    void shouldKeepTheThrottleOfMovesThatNobodyWaitsForWhenAnotherCannotBegin() {
        assertThat(throttlesAfter("move", "--throttle", "1MiB/s", "--no-wait", "--execute"))
                .as(err.toString(UTF_8))
                .hasSize(2);
        assertThat(err.toString(UTF_8)).contains("1 partition of 2 cannot move", "reassign --unthrottle --execute");
    }

    @Test
    void shouldRemoveTheThrottleWhenTheMovesHaveEnded() {
        assertThat(throttlesAfter("move", "--throttle", "1MiB/s", "--execute"))
                .as(err.toString(UTF_8))
                .isEmpty();
    }
}
