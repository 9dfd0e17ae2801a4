package io.journalq.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import java.nio.file.Path;
import java.util.List;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands about topics, configs and the cluster, against a real broker. */
class TopicCommandsTest {
    @TempDir
    private static Path directory;

    private static CommandBroker broker;

    @BeforeAll
    static void start() throws Exception {
        broker = new CommandBroker(directory);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void shouldCreateListAndDeleteTopics() {
        // when
        CommandRun create = broker.done("topics", "create", "one", "two", "--partitions", "3");
        CommandRun list = broker.done("topics", "list");
        CommandRun delete = broker.done("topics", "delete", "one", "two");

        // then
        assertThat(create.outLines()).containsExactly("created topic one", "created topic two");
        assertThat(list.outLines().get(0)).matches("TOPIC +PARTITIONS +ID");
        assertThat(list.outLines())
                .anySatisfy(line -> assertThat(line).matches("one +3 +[\\w-]{22}"))
                .anySatisfy(line -> assertThat(line).matches("two +3 +[\\w-]{22}"));
        assertThat(delete.outLines()).containsExactly("deleted topic one", "deleted topic two");
        assertThat(broker.done("topics", "list").outLines()).noneMatch(line -> line.matches("(one|two) .*"));
    }

    @Test
    void shouldShowTopicsAsJson() {
        // when
        CommandRun create = broker.done("topics", "create", "js", "--partitions", "2", "--output", "json");
        broker.doneWithInput("a\nb\n", "produce", "js", "--partition", "1");
        CommandRun list = broker.done("topics", "list", "--output", "json");
        CommandRun describe = broker.done("topics", "describe", "js", "--output", "json");

        // then
        assertThat(create.out()).isEqualToIgnoringWhitespace("[ { \"topic\" : \"js\", \"created\" : true } ]");
        assertThat(list.out()).contains("\"topic\" : \"js\"", "\"partitions\" : 2", "\"internal\" : false");
        assertThat(describe.out())
                .contains(
                        "\"messages\" : 2",
                        "\"configs\" : { }",
                        "\"leader\" : 0",
                        "\"replicas\" : [ 0 ]",
                        "\"inSyncReplicas\" : [ 0 ]",
                        "\"firstOffset\" : 0",
                        "\"endOffset\" : 2");
    }

    @Test
    void shouldDescribeATopicWithWhatWasSetForIt() {
        // given
        broker.done("topics", "create", "described", "--partitions", "2", "--config", "retention.ms=60000");
        broker.doneWithInput("a\nb\nc\n", "produce", "described", "--partition", "0");

        // when
        CommandRun describe = broker.done("topics", "describe", "described");

        // then
        assertThat(describe.outLines()).hasSize(5);
        assertThat(describe.outLines().get(0))
                .matches("Topic described  id [\\w-]{22}  2 partitions  3 messages  .* B");
        assertThat(describe.outLines().get(1)).isEqualTo("  retention.ms=60000 (1m)");
        assertThat(describe.outLines().get(2))
                .matches("PARTITION +LEADER +EPOCH +REPLICAS +IN-SYNC +FIRST +END +MESSAGES +SIZE");
        assertThat(describe.outLines().get(3)).matches(" +0 +0 +\\d+ +0 +0 +0 +3 +3 +\\d+ B");
    }

    @Test
    void shouldAlterPartitionsAndConfigs() {
        // given
        broker.done("topics", "create", "altered", "--config", "segment.bytes=1048576");

        // when
        CommandRun alter = broker.done(
                "topics", "alter", "altered", "--partitions=5", "--config=retention.ms=1000", "--unset=segment.bytes");
        CommandRun describe = broker.done("topics", "describe", "altered");
        CommandRun json = broker.done("topics", "alter", "altered", "--partitions=6", "--output=json");

        // then
        assertThat(alter.out()).isEqualTo("altered topic altered\n");
        assertThat(describe.out()).contains("5 partitions", "retention.ms=1000").doesNotContain("segment.bytes");
        assertThat(json.out()).isEqualToIgnoringWhitespace("{\"topic\":\"altered\",\"altered\":true}");
    }

    @Test
    void shouldChangeNoConfigWhenTheNumberOfPartitionsWouldShrink() {
        broker.done("topics", "create", "shrunk", "--partitions", "3");

        CommandRun alter = broker.run("topics", "alter", "shrunk", "--partitions=2", "--config=retention.ms=1000");

        assertThat(alter.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(alter.errLines())
                .containsExactly("journalq: topic shrunk has 3 partitions, and their number can"
                        + " only grow; nothing was changed");
        assertThat(broker.done("topics", "describe", "shrunk").out()).doesNotContain("retention.ms");
    }

    @Test
    void shouldSayThatConfigsWereChangedWhenPartitionsCannotBeAdded() {
        broker.done("topics", "create", "limited", "--partitions", "1");

        CommandRun alter =
                broker.run("topics", "alter", "limited", "--partitions=2000000000", "--config=retention.ms=1000");

        assertThat(alter.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(alter.err())
                .startsWith("journalq: the configurations were changed, but not the number of partitions:"
                        + " topic limited: ");
        assertThat(broker.done("topics", "describe", "limited").out()).contains("1 partition ", "retention.ms=1000");
    }

    @Test
    void shouldShowTheSameJsonWhenThereIsNoLeaderToElect() {
        broker.done("topics", "create", "led");

        assertThat(broker.done("cluster", "elect", "led", "--execute", "--output", "json")
                        .out())
                .isEqualToIgnoringWhitespace("{\"elected\":0}");
        assertThat(broker.done("cluster", "elect", "led", "--execute").out())
                .isEqualTo("Each partition has its preferred leader.\n");
    }

    @Test
    void shouldRefuseToUnsetAKeyThatDoesNotExist() {
        // given
        broker.done("topics", "create", "misspelt", "--config", "flush.ms=1000");

        // when
        CommandRun alter = broker.run("topics", "alter", "misspelt", "--unset", "retenton.ms");
        CommandRun unset = broker.run("configs", "unset", "--topic", "misspelt", "retenton.ms");
        CommandRun kafkaName = broker.done("configs", "unset", "--topic", "misspelt", "flush.ms");

        // then
        for (CommandRun refused : List.of(alter, unset)) {
            assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(refused.errLines())
                    .containsExactly("journalq: topic misspelt has no configuration retenton.ms; "
                            + "to list all, run journalq configs describe");
        }
        assertThat(kafkaName.out()).contains("flush.ms reset to its default");
    }

    @Test
    void shouldShowSetAndUnsetConfigs() {
        // given
        broker.done("topics", "create", "configured");

        // when
        CommandRun set = broker.done("configs", "set", "--topic", "configured", "retention.ms=86400000");
        CommandRun changed = broker.done("configs", "describe", "--topic", "configured", "--changed");
        CommandRun json = broker.done("configs", "describe", "--topic=configured", "--changed", "--output=json");
        CommandRun unset = broker.done("configs", "unset", "--topic", "configured", "retention.ms");
        CommandRun after = broker.done("configs", "describe", "--topic", "configured", "--changed");

        // then
        assertThat(set.out()).contains("changed", "configured", "retention.ms=86400000");
        assertThat(changed.outLines()).hasSize(2);
        assertThat(changed.outLines().get(1)).matches("retention.ms +86400000 \\(1d\\) +dynamic topic");
        assertThat(json.out())
                .contains(
                        "\"name\" : \"retention.ms\"",
                        "\"value\" : \"86400000\"",
                        "\"source\" : \"DYNAMIC_TOPIC_CONFIG\"",
                        "\"readOnly\" : false",
                        "\"sensitive\" : false");
        assertThat(unset.out()).contains("retention.ms reset to its default");
        assertThat(after.outLines()).hasSize(1);
        assertThat(broker.done("configs", "describe", "--broker", "0").out()).contains("num.partitions");
    }

    @Test
    void shouldShowUnitsThatKafkasClientsDoNotSee() throws Exception {
        // given
        broker.done("topics", "create", "units", "--config", "retention.ms=5h", "--config", "segment.bytes=64MiB");
        broker.done("configs", "set", "--topic", "units", "max.message.bytes=1000");

        // when
        org.apache.kafka.clients.admin.Config kafka;
        org.apache.kafka.common.config.ConfigResource units = new org.apache.kafka.common.config.ConfigResource(
                org.apache.kafka.common.config.ConfigResource.Type.TOPIC, "units");
        try (Admin admin = broker.admin()) {
            kafka = admin.describeConfigs(List.of(units)).all().get().get(units);
        }
        CommandRun table = broker.done("configs", "describe", "--topic", "units", "--changed");
        CommandRun json = broker.done("configs", "describe", "--topic", "units", "--changed", "--output", "json");

        // then
        assertThat(kafka.get("retention.ms").value()).isEqualTo("18000000");
        assertThat(kafka.get("segment.bytes").value()).isEqualTo("67108864");
        assertThat(table.out())
                .containsPattern("retention.ms +18000000 \\(5h\\) +dynamic topic")
                .containsPattern("segment.bytes +67108864 \\(64MiB\\) +dynamic topic")
                .containsPattern("max.message.bytes +1000 +dynamic topic");
        assertThat(json.out()).contains("\"value\" : \"18000000\"").doesNotContain("5h");
        assertThat(broker.done("topics", "describe", "units").out()).contains("  retention.ms=18000000 (5h)\n");
    }

    @Test
    void shouldShowTheCluster() {
        CommandRun table = broker.done("cluster", "describe");
        CommandRun json = broker.done("cluster", "describe", "--output", "json");

        assertThat(table.outLines().get(0)).matches("Cluster .*  1 broker");
        assertThat(table.out())
                .contains(broker.bootstrap(), directory.toString())
                .containsPattern("BROKER +DATA DIRECTORY +PARTITIONS +SIZE +FREE");
        assertThat(json.out())
                .contains(
                        "\"clusterId\"",
                        "\"brokers\" : [ {",
                        "\"controller\" : true",
                        "\"port\" : " + broker.port(),
                        "\"dataDirectories\" : [ {",
                        "\"path\" : \"" + directory,
                        "\"usableBytes\"");
    }

    @Test
    void shouldTakeATopicThatExistsOrIsGoneAsDoneWhenAsked() {
        broker.done("topics", "create", "there");

        assertThat(broker.done("topics", "create", "there", "--if-not-exists").out())
                .isEqualTo("topic already exists: there\n");
        assertThat(broker.done("topics", "delete", "nowhere", "--if-exists").out())
                .isEqualTo("topic does not exist: nowhere\n");
    }

    @Test
    void shouldPrintInJsonWhatWasDoneBeforeATopicHasFailed() {
        CommandRun created = broker.run("topics", "create", "early", "../x", "--output", "json");
        CommandRun deleted = broker.run("topics", "delete", "early", "nowhere", "--output", "json");

        assertThat(created.exitCode()).isEqualTo(1);
        assertThat(created.out()).contains("\"topic\" : \"early\"", "\"created\" : true");
        assertThat(deleted.exitCode()).isEqualTo(1);
        assertThat(deleted.out()).contains("\"topic\" : \"early\"", "\"deleted\" : true");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "topics create taken | topic taken already exists; use it, or add --if-not-exists",
                "topics create ../x | use letters, digits, '.', '_' and '-'",
                "topics create a --config retention.mss=1 | retention.ms",
                "topics create a --replication-factor 3 | replication factor",
                "topics describe absent | topic absent: ",
                "topics delete absent | there is no topic absent; to list all topics, run journalq topics list",
                "topics alter absent --partitions 2 | absent",
                "topics alter taken --partitions 1 | topic taken: ",
                "configs describe --topic absent | absent",
                "configs set --topic taken retention.ms=never | retention.ms",
                "configs set --topic absent retention.ms=1 | absent",
                "consume absent --from beginning --until end | topic absent does not exist; create it, or check its"
                        + " name",
                "consume taken --partition 7 | topic taken has no partition 7; it has 0 to 0",
                "consume taken --partition 0 --from 99 | is after the end of taken-0",
                "produce taken --partition 7 | topic taken has no partition 7; it has 0 to 0",
            })
    void shouldSayInOneLineWhatToDoWhenItCannotBeDone(String command, String expected) {
        // given
        broker.done("topics", "create", "taken", "--partitions", "1", "--if-not-exists");

        // when
        CommandRun run = broker.run(command.split(" ", -1));

        // then
        assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.FAILED);
        assertThat(run.errLines())
                .singleElement()
                .satisfies(line -> assertThat(line).startsWith("journalq: ").contains(expected));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1"})
    void shouldRefuseNumbersOfPartitionsBelowOneAsWrongUsage(String count) {
        CommandRun run = broker.run("topics", "create", "none", "--partitions", count);

        assertThat(run.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(run.errLines()).singleElement().satisfies(line -> assertThat(line)
                .contains("--partitions must be 1 or more"));
    }

    @Test
    void shouldSayWhatWasDoneBeforeItFailed() {
        CommandRun run = broker.run("topics", "create", "before", "../x", "after");

        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(run.outLines()).containsExactly("created topic before");
    }
}
