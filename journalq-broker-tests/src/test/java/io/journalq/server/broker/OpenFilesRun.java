package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.journalq.server.directory.LockHolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker in a separate process with a low limit on open files: clients cannot use up the files that journals need.
 * Takes a minute or two, and only runs by its name: {@code mvn -pl journalq-broker-tests -am test -Dtest=OpenFilesRun
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
class OpenFilesRun {
    private static final int MAX_OPEN_FILES = 400;
    private static final int CROWD = 600;
    /** Number of partitions that are written. Each uses a file then, and there are not enough for all. */
    private static final int PARTITIONS = 350;

    private static final int FEW = 10;
    private static final long START_SECONDS = 60;

    @TempDir
    private Path directory;

    private Path log;
    private Process process;
    private String bootstrap;

    @BeforeEach
    void needsAShell() {
        assumeTrue(Files.isExecutable(Path.of("/bin/sh")), "there is no shell to set the limit of a process");
        log = directory.resolve("broker.log");
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }

    private void start(int maxOpenFiles) throws Exception {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        List<String> command = new ArrayList<>(List.of(
                "/bin/sh",
                "-c",
                "ulimit -n " + maxOpenFiles + " && exec \"$0\" \"$@\"",
                java.toString(),
                "-Xmx128m",
                "-Dlogback.configurationFile=" + Path.of("..", "conf", "logback.xml"),
                "-cp",
                System.getProperty("java.class.path"),
                BrokerMain.class.getName()));
        for (String setting : List.of(
                "data.directories=" + directory.resolve("data"),
                "listeners=PLAINTEXT://127.0.0.1:0",
                "admin.listener=",
                "gateway.listener=",
                "shards=1",
                "flush.interval.ms=100",
                "log.retention.check.interval.ms=500")) {
            command.addAll(List.of("--set", setting));
        }
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        bootstrap = null;
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (bootstrap == null) {
            assertThat(process.isAlive() && System.nanoTime() < deadlineNanos)
                    .as("the broker starts: %s", log())
                    .isTrue();
            bootstrap = LockHolder.read(directory.resolve("data"))
                    .filter(holder -> holder.processId() == process.pid())
                    .map(LockHolder::address)
                    .orElse(null);
            Thread.sleep(20);
        }
    }

    private String log() throws IOException {
        return Files.exists(log) ? Files.readString(log) : "";
    }

    private void awaitLog(String words) throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!log().contains(words)) {
            assertThat(System.nanoTime()).as(words).isLessThan(deadlineNanos);
            Thread.sleep(20);
        }
    }

    private KafkaProducer<byte[], byte[]> producer() {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", "0"),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private static Future<RecordMetadata> send(KafkaProducer<byte[], byte[]> producer, int partition, String value) {
        return producer.send(new ProducerRecord<>("t", partition, null, value.getBytes(StandardCharsets.US_ASCII)));
    }

    private Set<String> read(int count) {
        Set<String> values = new TreeSet<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap, "enable.auto.commit", "false", "group.id", "g"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                partitions.add(new TopicPartition("t", i));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (partitions.stream().anyMatch(one -> consumer.position(one) < ends.get(one))
                    && System.nanoTime() < deadlineNanos) {
                consumer.poll(Duration.ofMillis(200))
                        .forEach(record -> values.add(new String(record.value(), StandardCharsets.US_ASCII)));
            }
        }
        return values;
    }

    @Test
    void shouldKeepFilesForJournalsAndRecoverWhenTooManyAreOpen() throws Exception {
        start(MAX_OPEN_FILES);
        int port = Integer.parseInt(bootstrap.substring(bootstrap.lastIndexOf(':') + 1));
        Set<String> acknowledged = new TreeSet<>();
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap));
                KafkaProducer<byte[], byte[]> producer = producer()) {
            admin.createTopics(List.of(new NewTopic("t", PARTITIONS, (short) 1)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
            send(producer, 0, "before").get(60, TimeUnit.SECONDS);
            acknowledged.add("before");
            // Loading classes from directories opens files too, at their first use.
            assertThat(read(1)).containsExactly("before");

            // when more clients connect than there are files
            List<Socket> crowd = new ArrayList<>();
            try {
                for (int i = 0; i < CROWD; i++) {
                    crowd.add(new Socket(InetAddress.getLoopbackAddress(), port));
                }
                // then connected clients are served, even if a journal needs another file
                for (int partition = 1; partition <= 10; partition++) {
                    send(producer, partition, "beside " + partition).get(60, TimeUnit.SECONDS);
                    acknowledged.add("beside " + partition);
                }
                assertThat(log()).contains("this process may open " + MAX_OPEN_FILES + " files");
                awaitLog("connection closed: ");
            } finally {
                for (Socket client : crowd) {
                    client.close();
                }
            }

            // and when partitions use all files, refused records are accepted once files are available again
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                sent.add(send(producer, partition, "all " + partition));
                acknowledged.add("all " + partition);
            }
            for (Future<RecordMetadata> one : sent) {
                one.get(120, TimeUnit.SECONDS);
            }
        }
        // then nothing that was acknowledged is missing
        assertThat(log()).contains("Too many open files");
        assertThat(read(FEW)).contains("before", "beside 1", "all 1");

        // nor after a kill
        process.destroyForcibly().waitFor();
        start(MAX_OPEN_FILES * 10);
        assertThat(read(PARTITIONS)).containsAll(acknowledged);
    }
}
