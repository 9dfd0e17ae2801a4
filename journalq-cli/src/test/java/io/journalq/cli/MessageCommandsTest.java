package io.journalq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Terminal;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Writing and reading messages by the command line, against a real broker. */
class MessageCommandsTest {
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

    private static void create(String topic, int partitions) {
        broker.done("topics", "create", topic, "--partitions", Integer.toString(partitions));
    }

    private static CommandRun readAll(String topic, String... more) {
        String[] words = new String[more.length + 6];
        System.arraycopy(new String[] {"consume", topic, "--from", "beginning", "--until", "end"}, 0, words, 0, 6);
        System.arraycopy(more, 0, words, 6, more.length);
        return broker.done(words);
    }

    /** Ten messages, m0 to m9, a second apart, and one at the end, in one partition. */
    private static void createTimed(String topic) {
        create(topic, 1);
        String lines = IntStream.range(0, 10)
                .mapToObj(i -> "{\"value\":\"m" + i + "\",\"timestamp\":" + (1_700_000_000_000L + i * 1_000L) + "}\n")
                .collect(Collectors.joining());
        broker.doneWithInput(lines, "produce", topic, "--format", "json");
    }

    @Test
    void shouldWriteEachLineAndSayHowMany() {
        // given
        create("lines", 1);

        // when
        CommandRun produce = broker.doneWithInput("one\ntwo\r\n\nthree", "produce", "lines");

        // then
        assertThat(produce.out()).isEmpty();
        assertThat(produce.errLines()).containsExactly("4 messages (11 B) written to lines");
        assertThat(readAll("lines").outLines()).containsExactly("one", "two", "", "three");
    }

    @Test
    void shouldWriteManyLinesInOrderWhateverTheirSize() {
        // given
        create("many", 1);
        List<String> lines = IntStream.range(0, 6_000)
                .mapToObj(i -> i + "-" + "x".repeat(i % 1_000 == 0 ? 200_000 : i % 50))
                .toList();

        // when
        broker.doneWithInput(String.join("\n", lines), "produce", "many", "--compression", "lz4");

        // then
        assertThat(readAll("many").outLines()).isEqualTo(lines);
        assertThat(readAll("many", "--max-messages", "3").outLines()).isEqualTo(lines.subList(0, 3));
    }

    @Test
    void shouldWriteKeysAndHeaders() {
        // given
        create("keyed", 3);

        // when
        broker.doneWithInput(
                "a\t1\nb\t2\na\t3\n",
                "produce",
                "keyed",
                "--key-separator",
                "\\t",
                "--header",
                "source=shell",
                "--header",
                "n=1");
        List<ConsumerRecord<byte[], byte[]>> records = broker.readAll(
                List.of(new TopicPartition("keyed", 0), new TopicPartition("keyed", 1), new TopicPartition("keyed", 2)),
                3);

        // then
        assertThat(records).hasSize(3).allSatisfy(record -> {
            assertThat(record.timestampType()).isEqualTo(TimestampType.CREATE_TIME);
            assertThat(record.headers().toArray()).hasSize(2);
            assertThat(new String(record.headers().lastHeader("source").value(), UTF_8))
                    .isEqualTo("shell");
        });
        Map<String, List<ConsumerRecord<byte[], byte[]>>> byKey =
                records.stream().collect(Collectors.groupingBy(record -> new String(record.key(), UTF_8)));
        assertThat(byKey.get("a")).hasSize(2);
        assertThat(byKey.get("a").get(0).partition())
                .isEqualTo(byKey.get("a").get(1).partition());
        assertThat(readAll("keyed", "--key-separator", "=", "--format", "value").outLines())
                .containsExactlyInAnyOrder("a=1", "b=2", "a=3");
        assertThat(readAll("keyed", "--format", "{key}|{value}|{headers}|{size}")
                        .outLines())
                .containsExactlyInAnyOrder(
                        "a|1|source=shell,n=1|1", "b|2|source=shell,n=1|1", "a|3|source=shell,n=1|1");
    }

    @Test
    void shouldCopyATopicByJson() {
        // given
        create("original", 2);
        create("copy", 2);
        broker.doneWithInput("k:ä\nl:\\\n", "produce", "original", "--key-separator", ":", "--header", "h=1");

        // when
        String json = readAll("original", "--format", "json").out();
        broker.doneWithInput(json, "produce", "copy", "--format", "json");

        // then
        assertThat(json.lines()).hasSize(2).allSatisfy(line -> assertThat(line).startsWith("{\"topic\":\"original\","));
        assertThat(readAll("copy", "--output", "json").out()).isEqualTo(json.replace("\"original\"", "\"copy\""));
    }

    @Test
    void shouldWriteAllHeadersWhenTwoHaveTheSameName() {
        // given
        create("tagged", 1);

        // when
        broker.doneWithInput("a\n", "produce", "tagged", "--header", "tag=x=1", "--header", "tag=y", "--header", "n=");

        // then
        assertThat(readAll("tagged", "--format", "{headers}").outLines()).containsExactly("tag=x=1,tag=y,n=");
        assertThat(broker.runWithInput("a\n", "produce", "tagged", "--header", "tag")
                        .exitCode())
                .isEqualTo(ExitCode.USAGE);
    }

    @Test
    void shouldTellWhereEachMessageWentAsJson() {
        // given
        create("told", 1);

        // when
        CommandRun produce = broker.doneWithInput("a\nb\n", "produce", "told", "--output", "json");

        // then
        assertThat(produce.outLines()).hasSize(2);
        assertThat(produce.outLines().get(1))
                .startsWith("{\"topic\":\"told\",\"partition\":0,\"offset\":1,\"timestamp\":");
    }

    @Test
    void shouldReadFromAndUntilOffsetsAndTimes() {
        createTimed("timed");

        assertThat(broker.done("consume", "timed", "--from", "7", "--until", "end")
                        .outLines())
                .containsExactly("m7", "m8", "m9");
        assertThat(broker.done("consume", "timed", "--from", "2", "--until", "4")
                        .outLines())
                .containsExactly("m2", "m3");
        assertThat(broker.done("consume", "timed", "--from=@1700000003500", "--until=@1700000006000")
                        .outLines())
                .containsExactly("m4", "m5");
        assertThat(broker.done("consume", "timed", "--from=2023-11-14T22:13:28Z", "--until=end")
                        .outLines())
                .containsExactly("m8", "m9");
        assertThat(broker.done("consume", "timed", "--from", "beginning", "--until", "beginning")
                        .out())
                .isEmpty();
        assertThat(broker.done("consume", "timed", "--from", "1h ago", "--until", "end")
                        .out())
                .isEmpty();
    }

    @Test
    void shouldCountMessagesAndEndAfterSilence() {
        // given
        createTimed("counted");

        // when
        CommandRun table = broker.done("consume", "counted", "--count", "--from", "beginning", "--until", "end");
        CommandRun json = broker.done("consume", "counted", "--count", "--from=4", "--until=end", "--output", "json");
        CommandRun silent = broker.done("consume", "counted", "--from", "9", "--timeout", "10ms");

        // then
        assertThat(table.out()).isEqualTo("10 messages, 20 B\n");
        assertThat(json.out()).isEqualToIgnoringWhitespace("{\"topic\":\"counted\",\"messages\":6,\"sizeBytes\":12}");
        assertThat(silent.outLines()).isSubsetOf("m9");
    }

    @Test
    void shouldRefuseAFormatThatContradictsTheOutput() {
        CommandRun value = broker.run("consume", "any", "--format", "value", "--output", "json");
        CommandRun template = broker.run("consume", "any", "--format", "{key}", "--output", "json");

        assertThat(List.of(value.exitCode(), template.exitCode())).containsOnly(ExitCode.USAGE);
        assertThat(value.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: --output json shows messages as JSON; leave out --format or --output"));
    }

    @Test
    void shouldReadChosenPartitionsOnly() {
        // given
        create("chosen", 3);
        for (int partition = 0; partition < 3; partition++) {
            broker.doneWithInput("p" + partition + "\n", "produce", "chosen", "--partition", "" + partition);
        }

        // when
        CommandRun run = readAll("chosen", "--partition", "0,2");

        // then
        assertThat(run.outLines()).containsExactlyInAnyOrder("p0", "p2");
    }

    @Test
    void shouldKeepWhatStandsBeforeAWrongLine() {
        // given
        create("wrong", 1);

        // when
        CommandRun json = broker.runWithInput("{\"value\":\"a\"}\nnonsense\n", "produce", "wrong", "--format", "json");
        CommandRun separator = broker.runWithInput("k:b\nnone\n", "produce", "wrong", "--key-separator", ":");
        CommandRun tooLong = broker.runWithInput("c\n0123456789\n", "produce", "wrong", "--max-line-size", "5");
        CommandRun withUnit = broker.runWithInput("", "produce", "wrong", "--max-line-size", "2MiB");
        CommandRun huge = broker.runWithInput("", "produce", "wrong", "--max-line-size", "2GiB");

        // then
        assertThat(List.of(json.exitCode(), separator.exitCode(), tooLong.exitCode()))
                .containsOnly(ExitCode.FAILED);
        assertThat(json.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: line 2: ")
                .endsWith(" (1 message before it written)"));
        assertThat(separator.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: line 2 has no key separator ':'")
                .endsWith(" (1 message before it written)"));
        assertThat(tooLong.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: line 2 is longer than 5 B; raise --max-line-size")
                .endsWith(" (1 message before it written)"));
        assertThat(withUnit.exitCode()).as(withUnit.err()).isEqualTo(ExitCode.DONE);
        assertThat(huge.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(huge.err()).contains("'2GiB' is too large; use less than 2GiB");
        assertThat(readAll("wrong").outLines()).containsExactly("a", "b", "c");
    }

    @Test
    void shouldSayHowManyMessagesWereWrittenWhenTheNextOneCannotBeSent() {
        // given a message that is too large with its header, which the client itself refuses
        broker.done("topics", "create", "partly", "--partitions", "1");

        // when
        CommandRun failed = broker.runWithInput(
                "one\ntwo\n" + "x".repeat(199_000) + "\n",
                "produce",
                "partly",
                "--max-line-size",
                "200000",
                "--key",
                "k",
                "--header",
                "h=" + "y".repeat(20_000));

        // then
        assertThat(failed.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(failed.err()).contains("2 messages before it written");
    }

    @Test
    void shouldSayThatAMessageIsTooLargeForTheTopic() {
        // given
        broker.done("topics", "create", "narrow", "--config", "max.message.bytes=1000");

        // when
        CommandRun run = broker.runWithInput("x".repeat(5_000) + "\n", "produce", "narrow");

        // then
        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(run.errLines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: 0 messages written to narrow, then: ")
                .contains("max.message.bytes"));
    }

    @Test
    void shouldSayHowManyMessagesWereWrittenWhenAProcessIsInterrupted() throws Exception {
        // given a process whose input does not end
        create("interrupted", 1);
        Path err = directory.resolve("interrupted.txt");
        Process process = process("produce", "interrupted", "--output", "json")
                .redirectError(err.toFile())
                .start();
        process.getOutputStream().write("one\ntwo\n".getBytes(UTF_8));
        process.getOutputStream().flush();
        try (BufferedReader lines = process.inputReader(UTF_8)) {
            assertThat(lines.readLine()).contains("\"offset\":0");
            assertThat(lines.readLine()).contains("\"offset\":1");

            // when
            process.toHandle().destroy();
            process.waitFor();
        }

        // then
        assertThat(Files.readAllLines(err)).containsExactly("interrupted; 2 messages written to interrupted");
    }

    @Test
    void shouldExplainInOneLineWhenTheTopicOfAProcessDoesNotExist() throws Exception {
        // given: the log of the client goes to standard error as in bin/journalq, which a run in this process cannot
        // see
        Path err = directory.resolve("err.txt");

        // when
        Process process = process("consume", "absent")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(err.toFile())
                .start();

        // then
        assertThat(process.waitFor()).isEqualTo(ExitCode.FAILED);
        assertThat(Files.readAllLines(err))
                .containsExactly("journalq: topic absent does not exist; create it, or check its name");
    }

    /** A command in a process of its own. */
    private static ProcessBuilder process(String... words) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "-Dlogback.configurationFile=" + Path.of("..", "conf", "logback-cli.xml"),
                JournalqMain.class.getName()));
        command.addAll(List.of(words));
        command.addAll(List.of("--bootstrap", broker.bootstrap()));
        ProcessBuilder process = new ProcessBuilder(command);
        process.environment().remove("JOURNALQ_LOG_LEVEL");
        return process;
    }

    @Test
    void shouldWarnInOneLineWhenTheBrokerStopsWhileAConsumerWaits() throws Exception {
        // given
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, err, "");
        CommandBroker mortal = new CommandBroker(directory.resolve("mortal"));
        CompletableFuture<Integer> exitCode;
        try {
            mortal.doneWithInput("hello\n", "produce", "orders");
            exitCode = CompletableFuture.supplyAsync(() -> JournalqMain.run(
                    terminal,
                    Map.of(),
                    "consume",
                    "orders",
                    "--from=beginning",
                    "--timeout=3s",
                    "--bootstrap=" + mortal.bootstrap()));
            while (out.size() == 0 && !exitCode.isDone()) {
                Thread.sleep(10);
            }
        } finally {
            // when
            mortal.close();
        }

        // then
        assertThat(exitCode.get(60, TimeUnit.SECONDS)).isZero();
        assertThat(out.toString(UTF_8)).isEqualTo("hello\n");
        assertThat(err.toString(UTF_8).lines()).singleElement().satisfies(line -> assertThat(line)
                .startsWith("journalq: warning: ")
                .contains(mortal.bootstrap()));
    }

    @Test
    void shouldReadWhatIsLeftWhenMessagesAreDeletedBeforeTheyAreRead() throws Exception {
        // given more messages than a consumer fetches in advance, and a reader of the output that is slow
        broker.done("topics", "create", "shrinking", "--partitions", "1");
        broker.doneWithInput(("x".repeat(500_000) + "\n").repeat(40), "produce", "shrinking");
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch deleted = new CountDownLatch(1);
        ByteArrayOutputStream out = waiting(writes, deleted);
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, err, "");
        CompletableFuture<Integer> exitCode = CompletableFuture.supplyAsync(() -> JournalqMain.run(
                terminal,
                Map.of(),
                "consume",
                "shrinking",
                "--from=beginning",
                "--until=end",
                "--format={offset}",
                "--bootstrap=" + broker.bootstrap()));

        // when
        try (Admin admin = broker.admin()) {
            writes.await();
            admin.deleteRecords(Map.of(new TopicPartition("shrinking", 0), RecordsToDelete.beforeOffset(38)))
                    .all()
                    .get();
        } finally {
            deleted.countDown();
        }

        // then
        assertThat(exitCode.get(60, TimeUnit.SECONDS)).as(err.toString(UTF_8)).isZero();
        assertThat(out.toString(UTF_8).lines())
                .startsWith("0")
                .endsWith("38", "39")
                .doesNotContain("37");
    }

    @Test
    void shouldReadWhatIsLeftWhenNewMessagesAreDeletedBeforeTheyAreRead() throws Exception {
        // given a reader of new messages whose output is slow
        broker.done("topics", "create", "trailing", "--partitions", "1");
        TopicPartition partition = new TopicPartition("trailing", 0);
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch deleted = new CountDownLatch(1);
        ByteArrayOutputStream out = waiting(writes, deleted);
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), out, err, "");
        CompletableFuture<Integer> exitCode = CompletableFuture.supplyAsync(() -> JournalqMain.run(
                terminal,
                Map.of(),
                "consume",
                "trailing",
                "--format={offset}",
                "--timeout=5s",
                "--bootstrap=" + broker.bootstrap()));

        // when more of them come than a consumer fetches in advance
        long end;
        try (Admin admin = broker.admin()) {
            while (!writes.await(100, TimeUnit.MILLISECONDS)) {
                broker.doneWithInput("first\n", "produce", "trailing");
            }
            broker.doneWithInput(("x".repeat(500_000) + "\n").repeat(40), "produce", "trailing");
            end = admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition)
                    .get()
                    .offset();
            admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(end - 2)))
                    .all()
                    .get();
        } finally {
            deleted.countDown();
        }

        // then
        assertThat(exitCode.get(60, TimeUnit.SECONDS)).as(err.toString(UTF_8)).isZero();
        assertThat(out.toString(UTF_8).lines())
                .endsWith(Long.toString(end - 2), Long.toString(end - 1))
                .doesNotContain(Long.toString(end - 3));
    }

    /** Returns an output that tells of the first write, and writes nothing until it may. */
    private static ByteArrayOutputStream waiting(CountDownLatch writes, CountDownLatch mayWrite) {
        return new ByteArrayOutputStream() {
            @Override
            public synchronized void write(byte[] bytes, int offset, int length) {
                writes.countDown();
                try {
                    mayWrite.await();
                } catch (InterruptedException stopped) {
                    throw new AssertionError("interrupted while writing", stopped);
                }
                super.write(bytes, offset, length);
            }
        };
    }

    @Test
    void shouldWarnWhenProducingCreatesTheTopic() {
        // when
        CommandRun nothing = broker.doneWithInput("", "produce", "misspelt");
        CommandRun first = broker.doneWithInput("a\n", "produce", "misspelt");
        CommandRun second = broker.doneWithInput("b\n", "produce", "misspelt");
        CommandRun toPartition = broker.doneWithInput("c\n", "produce", "another", "--partition", "0");

        // then
        String created = "did not exist; the broker created it with 1 partition and its default settings";
        assertThat(nothing.errLines()).containsExactly("0 messages (0 B) written to misspelt");
        assertThat(first.errLines())
                .containsExactly("journalq: warning: topic misspelt " + created, "1 message (1 B) written to misspelt");
        assertThat(second.errLines()).containsExactly("1 message (1 B) written to misspelt");
        assertThat(toPartition.errLines())
                .containsExactly("journalq: warning: topic another " + created, "1 message (1 B) written to another");
    }

    @Test
    void shouldContinueAtTheCommittedOffsetsWhenReadingAsAMemberOfAGroup() {
        // given
        create("grouped", 1);
        broker.doneWithInput("1\n2\n3\n4\n5\n", "produce", "grouped");
        String[] asMember = {"consume", "grouped", "--group", "billing", "--from", "beginning", "--timeout", "10s"};

        // when
        CommandRun first = broker.done(append(asMember, "--max-messages", "2"));
        CommandRun second = broker.done(append(asMember, "--max-messages", "2", "--count"));
        CommandRun third = broker.done(append(asMember, "--max-messages", "1"));
        CommandRun lag = broker.done("groups", "lag", "billing", "--output", "json");
        CommandRun group = broker.done("groups", "describe", "billing", "--output", "json");

        // then
        assertThat(first.outLines()).containsExactly("1", "2");
        assertThat(second.outLines()).containsExactly("2 messages, 2 B");
        assertThat(third.outLines()).containsExactly("5");
        assertThat(lag.out()).contains("\"committed\" : 5", "\"lag\" : 0");
        assertThat(group.out()).as("every member has left").contains("\"members\" : [ ]");
    }

    @Test
    void shouldReadWhatIsLeftAsAMemberWhenTheMessagesAtTheCommittedOffsetAreDeleted() throws Exception {
        // given
        create("kept", 1);
        broker.doneWithInput("1\n2\n3\n4\n5\n", "produce", "kept");
        broker.done(
                "consume",
                "kept",
                "--group",
                "audit",
                "--from",
                "beginning",
                "--max-messages",
                "1",
                "--timeout",
                "10s");
        try (Admin admin = broker.admin()) {
            admin.deleteRecords(Map.of(new TopicPartition("kept", 0), RecordsToDelete.beforeOffset(3)))
                    .all()
                    .get();
        }

        // when
        CommandRun known = broker.done("consume", "kept", "--group", "audit", "--max-messages", "2", "--timeout", "5s");
        CommandRun fresh = broker.done("consume", "kept", "--group", "fresh", "--timeout", "3s");

        // then
        assertThat(known.outLines()).containsExactly("4", "5");
        assertThat(fresh.outLines()).isEmpty();
    }

    private static String[] append(String[] words, String... more) {
        return java.util.stream.Stream.concat(java.util.Arrays.stream(words), java.util.Arrays.stream(more))
                .toArray(String[]::new);
    }
}
