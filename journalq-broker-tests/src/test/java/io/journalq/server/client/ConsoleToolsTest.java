package io.journalq.server.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.broker.TestBroker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kafka's own command-line tools, each as a program of its own, against the real broker. */
@Tag("long")
class ConsoleToolsTest {
    @TempDir
    Path directory;

    private TestBroker broker;
    private ConsoleTool tool;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory.resolve("data")).start();
        tool = new ConsoleTool(broker, directory);
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldServeTopicProducerConsumerAndOffsetTools() throws Exception {
        topics("--create", "--topic", "orders", "--partitions", "2", "--config", "retention.ms=123456")
                .succeeded();
        assertThat(topics("--describe", "--topic", "orders").succeeded().out())
                .contains("PartitionCount: 2", "ReplicationFactor: 1", "retention.ms=123456", "Partition: 1");
        topics("--alter", "--topic", "orders", "--partitions", "3").succeeded();

        tool.run(
                        "org.apache.kafka.tools.ConsoleProducer",
                        "k1:first\nk1:second\nk1:third\n",
                        "--topic",
                        "orders",
                        "--reader-property",
                        "parse.key=true",
                        "--reader-property",
                        "key.separator=:",
                        "--compression-codec",
                        "lz4")
                .succeeded();
        ConsoleTool.Result ends = tool.run("org.apache.kafka.tools.GetOffsetShell", "", "--topic", "orders")
                .succeeded();
        String end = ends.out()
                .lines()
                .filter(line -> line.endsWith(":3"))
                .findFirst()
                .orElseThrow();
        String partition = end.substring("orders:".length(), end.length() - ":3".length());
        ConsoleTool.Result consumed = tool.run(
                        "org.apache.kafka.tools.consumer.ConsoleConsumer",
                        "",
                        "--topic",
                        "orders",
                        "--partition",
                        partition,
                        "--offset",
                        "earliest",
                        "--max-messages",
                        "3",
                        "--formatter-property",
                        "print.key=true",
                        "--formatter-property",
                        "print.offset=true")
                .succeeded();
        assertThat(consumed.out().lines())
                .containsExactly("Offset:0\tk1\tfirst", "Offset:1\tk1\tsecond", "Offset:2\tk1\tthird");

        topics("--delete", "--topic", "orders").succeeded();
        assertThat(topics("--list").succeeded().out()).doesNotContain("orders");
    }

    @Test
    void shouldServeSettingsLogDirectoryAndVersionTools() throws Exception {
        topics("--create", "--topic", "orders", "--partitions", "1").succeeded();

        tool.run(
                        "kafka.admin.ConfigCommand",
                        "",
                        "--entity-type",
                        "topics",
                        "--entity-name",
                        "orders",
                        "--alter",
                        "--add-config",
                        "retention.ms=98765")
                .succeeded();
        assertThat(tool.run(
                                "kafka.admin.ConfigCommand",
                                "",
                                "--entity-type",
                                "topics",
                                "--entity-name",
                                "orders",
                                "--describe")
                        .succeeded()
                        .out())
                .contains("retention.ms=98765");
        assertThat(tool.run("org.apache.kafka.tools.LogDirsCommand", "", "--describe")
                        .succeeded()
                        .out())
                .contains("orders-0");
        assertThat(tool.run("org.apache.kafka.tools.BrokerApiVersionsCommand", "")
                        .succeeded()
                        .out())
                .contains("Produce(0): 0 to 13 [usable: 13]", "Fetch(1): 4 to 18 [usable: 18]");

        Path offsets = Files.writeString(
                directory.resolve("delete.json"),
                "{\"partitions\": [{\"topic\": \"orders\", \"partition\": 0, \"offset\": 0}], \"version\": 1}");
        assertThat(tool.run("org.apache.kafka.tools.DeleteRecordsCommand", "", "--offset-json-file", offsets.toString())
                        .succeeded()
                        .out())
                .contains("orders-0")
                .contains("low_watermark: 0");
    }

    @Test
    void shouldServeToolsForUsersAndAccessControlWhenThereIsNeither() throws Exception {
        tool.run(
                        "kafka.admin.ConfigCommand",
                        "",
                        "--entity-type",
                        "users",
                        "--entity-name",
                        "ada",
                        "--alter",
                        "--add-config",
                        "producer_byte_rate=1048576")
                .succeeded();
        assertThat(tool.run("kafka.admin.ConfigCommand", "", "--entity-type", "users", "--describe")
                        .succeeded()
                        .out())
                .contains("ada", "producer_byte_rate=1048576.0");

        ConsoleTool.Result acls = tool.run("org.apache.kafka.tools.AclCommand", "", "--list");
        assertThat(acls.out() + acls.err()).contains("SecurityDisabledException", "No Authorizer");
    }

    @Test
    void shouldVerifyAReassignmentThatMovesNothing() throws Exception {
        topics("--create", "--topic", "orders", "--partitions", "1").succeeded();
        Path plan = Files.writeString(
                directory.resolve("plan.json"),
                "{\"version\": 1, \"partitions\": [{\"topic\": \"orders\", \"partition\": 0, \"replicas\": [0]}]}");

        assertThat(tool.run(
                                "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
                                "",
                                "--reassignment-json-file",
                                plan.toString(),
                                "--verify")
                        .succeeded()
                        .out())
                .contains("Reassignment of partition orders-0 is completed.", "Clearing broker-level throttles");
    }

    private ConsoleTool.Result topics(String... arguments) throws IOException, InterruptedException {
        return tool.run("org.apache.kafka.tools.TopicCommand", "", arguments);
    }
}
