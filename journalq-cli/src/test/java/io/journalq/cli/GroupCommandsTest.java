package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands about groups and transactions, against a real broker with Kafka's clients in it. */
class GroupCommandsTest {
    private static final long FIRST_TIMESTAMP_MS = 1_700_000_000_000L;

    @TempDir
    private static Path directory;

    private static CommandBroker broker;

    @BeforeAll
    static void start() throws Exception {
        broker = new CommandBroker(directory);
        broker.done("topics", "create", "orders", "--partitions", "2");
        for (int partition = 0; partition < 2; partition++) {
            String lines = IntStream.range(0, 10)
                    .mapToObj(i -> "{\"value\":\"m\",\"timestamp\":" + (FIRST_TIMESTAMP_MS + i * 1_000L) + "}\n")
                    .collect(Collectors.joining());
            broker.doneWithInput(lines, "produce", "orders", "--format", "json", "--partition", "" + partition);
        }
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    /** Commits these offsets, one for each partition, for a group without members. */
    private static void commit(String group, long... offsets) {
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of("group.id", group))) {
            for (int partition = 0; partition < offsets.length; partition++) {
                consumer.commitSync(
                        Map.of(new TopicPartition("orders", partition), new OffsetAndMetadata(offsets[partition])));
            }
        }
    }

    private static Map<TopicPartition, OffsetAndMetadata> committed(String group) throws Exception {
        try (var admin = broker.admin()) {
            return admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void shouldShowMembersAndWhatTheyRead(String protocol) throws Exception {
        // given
        String group = "members-" + protocol;
        try (KafkaConsumer<byte[], byte[]> consumer =
                broker.consumer(Map.of("group.id", group, "group.protocol", protocol, "client.id", "reader"))) {
            consumer.subscribe(List.of("orders"));
            CommandBroker.awaitAssignment(consumer, 2);

            // when
            CommandRun list = broker.done("groups", "list");
            CommandRun describe = broker.done("groups", "describe", group);
            CommandRun json = broker.done("groups", "describe", group, "--output", "json");
            CommandRun reset = broker.run("groups", "reset-offsets", group, "--topic=orders", "--to-latest");
            CommandRun delete = broker.run("groups", "delete", group);

            // then
            assertThat(list.outLines())
                    .anySatisfy(line -> assertThat(line).matches(group + " +\\w+ +" + protocol + " +consumer"));
            assertThat(describe.outLines().get(0))
                    .startsWith("Group " + group + "  " + protocol + "  Stable  1 member");
            assertThat(describe.outLines().get(2)).contains("reader", "orders:0,1");
            assertThat(json.out()).contains("\"type\" : \"" + protocol + "\"", "\"state\" : \"Stable\"");
            assertThat(reset.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(reset.errLines()).singleElement().satisfies(line -> assertThat(line)
                    .startsWith("journalq: group " + group
                            + " has 1 member, which would continue at their own positions; " + "stop its consumers"));
            assertThat(delete.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(delete.errLines()).singleElement().satisfies(line -> assertThat(line)
                    .contains("the group has members; stop its consumers"));
        }
    }

    /** An assignor with a name that a terminal obeys. */
    public static final class HostileAssignor extends RangeAssignor {
        @Override
        public String name() {
            return "\u001b[2Jrange";
        }
    }

    @Test
    void shouldShowNoControlCharactersThatAClientHasChosen() {
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(Map.of(
                "group.id",
                "hostile",
                "group.protocol",
                "classic",
                "partition.assignment.strategy",
                HostileAssignor.class.getName()))) {
            consumer.subscribe(List.of("orders"));
            CommandBroker.awaitAssignment(consumer, 2);

            CommandRun described = broker.done("groups", "describe", "hostile");

            assertThat(described.outLines().get(0)).endsWith("  assignor .[2Jrange");
            assertThat(broker.run("groups", "describe", "\u001b[2Jmissing").err())
                    .contains(".[2Jmissing")
                    .doesNotContain("\u001b");
        }
    }

    @Test
    void shouldShowLagInMessagesAndSeconds() {
        // given
        commit("behind", 4, 10);

        // when
        CommandRun lag = broker.done("groups", "lag", "behind");
        CommandRun json = broker.done("groups", "lag", "behind", "--output", "json");
        CommandRun none = broker.done("groups", "lag", "behind", "--topic", "other");

        // then
        assertThat(lag.outLines().get(0)).matches("TOPIC +PARTITION +COMMITTED +END +LAG +SECONDS +MEMBER");
        assertThat(lag.outLines().get(1)).matches("orders +0 +4 +10 +6 +\\d{8,}\\.\\d +-");
        assertThat(lag.outLines().get(2)).matches("orders +1 +10 +10 +0 +0\\.0 +-");
        assertThat(lag.outLines().get(3)).matches("Group behind is behind by 6 messages, \\d+\\.\\d s");
        assertThat(json.out()).contains("\"group\" : \"behind\"", "\"lag\" : 6", "\"lagMs\" : ");
        assertThat(none.out()).isEqualTo("group behind has no committed offsets for topic other\n");
    }

    @ParameterizedTest
    @CsvSource({
        "--to-earliest, 0, 0",
        "--to-latest, 10, 10",
        "--to-offset=7, 7, 7",
        "--to-offset=700, 10, 10",
        "--shift-by=-2, 2, 6",
        "--shift-by=5, 9, 10",
        "--shift-by=-9223372036854775808, 0, 0",
        "--to-datetime=@1700000006500, 7, 7",
        "--to-datetime=2023-11-14T22:13:22Z, 2, 2",
        "--to-datetime=2030-01-01T00:00:00Z, 10, 10",
        "--by-duration=1h, 10, 10",
        "--by-duration=36500d, 0, 0",
        "--by-duration=999999999999d, 0, 0",
    })
    void shouldMoveOffsetsOnlyWhenToldTo(String target, long first, long second) throws Exception {
        // given
        commit("moved", 4, 8);

        // when
        CommandRun dry = broker.done("groups", "reset-offsets", "moved", "--all-topics", target);
        Map<TopicPartition, OffsetAndMetadata> before = committed("moved");
        CommandRun done = broker.done("groups", "reset-offsets", "moved", "--all-topics", target, "--execute");
        Map<TopicPartition, OffsetAndMetadata> after = committed("moved");

        // then
        assertThat(dry.outLines().get(1)).matches("orders +0 +4 +" + first);
        assertThat(dry.outLines().get(2)).matches("orders +1 +8 +" + second);
        assertThat(dry.errLines()).containsExactly("Nothing was changed. To apply the changes, add --execute.");
        assertThat(before.get(new TopicPartition("orders", 0)).offset()).isEqualTo(4);
        assertThat(done.out()).isEqualTo(dry.out());
        assertThat(done.err()).isEmpty();
        assertThat(after.get(new TopicPartition("orders", 0)).offset()).isEqualTo(first);
        assertThat(after.get(new TopicPartition("orders", 1)).offset()).isEqualTo(second);
    }

    @Test
    void shouldRefuseToShiftOffsetsThatDoNotExist() {
        // when
        CommandRun shift =
                broker.run("groups", "reset-offsets", "none", "--topic", "orders", "--shift-by", "1", "--execute");

        // then
        assertThat(shift.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(shift.out()).isEmpty();
        assertThat(shift.errLines())
                .containsExactly("journalq: group none has no committed offsets in these partitions; "
                        + "to set its first ones, use --to-earliest, --to-latest or --to-offset with --topic");
    }

    @Test
    void shouldMakeAGroupOfChosenPartitionsAndDeleteIt() throws Exception {
        // when
        CommandRun made = broker.done(
                "groups",
                "reset-offsets",
                "fresh",
                "--topic",
                "orders:1",
                "--to-offset",
                "3",
                "--execute",
                "--output",
                "json");
        Map<TopicPartition, OffsetAndMetadata> offsets = committed("fresh");
        CommandRun deleted = broker.done("groups", "delete", "fresh");
        CommandRun again = broker.run("groups", "delete", "fresh");

        // then
        assertThat(made.out())
                .isEqualToIgnoringWhitespace(
                        """
                        {"group":"fresh","executed":true,"partitions":[
                        {"topic":"orders","partition":1,"committed":null,"offset":3}]}
                        """);
        assertThat(offsets).containsOnlyKeys(new TopicPartition("orders", 1));
        assertThat(deleted.out()).isEqualTo("deleted group fresh\n");
        assertThat(again.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(again.errLines())
                .containsExactly("journalq: there is no group fresh; to list all groups, run journalq groups list");
        assertThat(broker.done("groups", "delete", "fresh", "--if-exists").out())
                .isEqualTo("group does not exist: fresh\n");
    }

    @Test
    void shouldShowAndAbortAnOpenTransaction() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", "billing-1"))) {
            // given
            broker.done("topics", "create", "billed", "--partitions", "2");
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("billed", 1, null, new byte[1])).get();

            // when
            CommandRun list = broker.done("transactions", "list");
            CommandRun describe = broker.done("transactions", "describe", "billing-1");
            CommandRun json = broker.done("transactions", "describe", "billing-1", "--output", "json");
            CommandRun dry = broker.done("transactions", "abort", "billing-1");
            CommandRun still = broker.done("transactions", "list", "--state", "ongoing", "--output", "json");
            CommandRun abort = broker.done("transactions", "abort", "billing-1", "--execute");
            CommandRun again = broker.run("transactions", "abort", "billing-1", "--execute");

            // then
            assertThat(list.outLines().get(1)).matches("billing-1 +Ongoing +\\d+");
            assertThat(describe.outLines().get(0))
                    .startsWith("Transactional id billing-1  Ongoing  producer ")
                    .contains("open for");
            assertThat(describe.outLines().get(2)).matches("billed +1");
            assertThat(json.out()).contains("\"timeoutMs\" : 60000", "\"partition\" : 1");
            assertThat(dry.out()).isEqualTo("would abort the transaction of billing-1, which wrote to 1 partition\n");
            assertThat(still.out()).contains("\"transactionalId\" : \"billing-1\"");
            assertThat(abort.out()).isEqualTo("aborted the transaction of billing-1, which wrote to 1 partition\n");
            assertThat(again.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(again.err()).contains("has no open transaction");
        }
    }

    @Test
    @Timeout(60)
    void shouldNotCallATransactionOpenWhenItIsComplete() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", "billing-2"))) {
            // given
            broker.done("topics", "create", "settled");
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("settled", null, new byte[1])).get();
            producer.commitTransaction();

            // when its marker is written, which the producer does not wait for
            CommandRun describe = broker.done("transactions", "describe", "billing-2");
            while (!describe.out().contains("CompleteCommit")) {
                describe = broker.done("transactions", "describe", "billing-2");
            }
            CommandRun json = broker.done("transactions", "describe", "billing-2", "--output", "json");

            // then
            assertThat(describe.out()).doesNotContain("open for");
            assertThat(json.out()).contains("\"startedMs\" : null");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1 | groups describe absent | the group does not exist",
                "1 | groups lag absent | the group does not exist",
                "1 | groups reset-offsets absent --all-topics --to-latest | has no committed offsets; select topics",
                "1 | groups reset-offsets g --topic orders:9 --to-latest | topic orders has no partition 9",
                "1 | groups reset-offsets g --topic absent --to-latest | topic absent",
                "1 | transactions describe absent | the transactional id does not exist: absent",
                "1 | transactions abort absent | the transactional id does not exist: absent",
                "2 | groups reset-offsets g --to-latest | either --topic or --all-topics",
                "2 | groups reset-offsets g --topic orders | --to-earliest",
                "2 | groups reset-offsets g --topic orders --to-latest --to-earliest | mutually exclusive",
                "2 | groups reset-offsets g --topic orders:x --to-latest | is not of the form NAME or NAME:0,5",
                "2 | groups reset-offsets g --topic orders --to-offset -1 | --to-offset must be 0 or more",
                "2 | groups reset-offsets g --topic orders --to-datetime soon | is not a position",
                "2 | groups reset-offsets g --topic orders --to-datetime end | is not a time",
                "2 | groups | a command is missing: list, describe, lag, reset-offsets, delete",
            })
    void shouldSayInOneLineWhatIsWrong(int exitCode, String command, String expected) {
        CommandRun run = broker.run(command.split(" ", -1));

        assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
        assertThat(run.errLines())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("journalq: ").contains(expected));
    }
}
