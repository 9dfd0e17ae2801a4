package io.journalq.seal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.KeyTopics;
import io.journalq.client.Producer;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Searches the heap and the files of a broker for what clients have sent. */
@Tag("long")
class BrokerSeesNoPlainTextTest {
    private static final int RECORDS = 200;
    private static final int PIECE_BYTES = 1 << 20;
    private static final Duration POLL = Duration.ofMillis(200);

    @TempDir
    private Path directory;

    private Process process;
    private BufferedReader printed;
    private String address;

    @BeforeEach
    void start() throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        // Network buffers are on the heap, where the dump contains them, also after their use.
                        "-Dio.netty.noPreferDirect=true",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DumpableBroker.class.getName(),
                        Files.createDirectory(directory.resolve("data")).toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        printed = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
        address = printed.readLine();
    }

    @AfterEach
    void stop() throws Exception {
        process.getOutputStream().close();
        if (!process.waitFor(20, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
    }

    private Admin admin() {
        return Admin.builder().bootstrapServers(address).build();
    }

    private SealPolicy policy() throws IOException {
        KeyVault vault = KeyVault.inMemory();
        KeyLog keys = KeyTopics.of(Admin.builder().bootstrapServers(address));
        try (Admin admin = admin()) {
            SealAdmin.createTopics(admin, NewTopic.BROKER_DEFAULT);
            admin.createTopic(NewTopic.of("sealed", 1));
            admin.createTopic(NewTopic.of("records", 1));
            admin.createTopic(NewTopic.of("plain", 1));
        }
        SealAdmin registry = SealAdmin.found("tests", vault, keys, TrustPolicy.onFirstUse(null));
        byte[] sender = vault.makeSender("billing").publicKey();
        byte[] role = vault.makeRole("readers", 1).publicKey();
        registry.change(next -> next.withSender("billing", sender, List.of("*"))
                .withRole("readers", 1, role)
                .withTopic("sealed", SealMode.BATCH, List.of("readers"))
                .withTopic("records", SealMode.RECORD, List.of("readers")));
        return SealPolicy.builder()
                .realm("tests")
                .trust(TrustPolicy.pinned(Registry.fingerprint(vault.root().publicKey()), null))
                .vault(vault)
                .sender("billing")
                .build();
    }

    private void send(Producer.Builder builder, String topic, String canary) {
        try (Producer producer = builder.bootstrapServers(address).build()) {
            for (int i = 0; i < RECORDS; i++) {
                var unused = producer.sendAsync(ProducerRecord.of(topic, 0, null, (canary + i).getBytes(UTF_8)));
            }
            producer.send(ProducerRecord.of(topic, 0, null, canary.getBytes(UTF_8)));
        }
    }

    private void read(Consumer.Builder builder, String topic, String canary) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Consumer consumer = builder.bootstrapServers(address)
                .startAt(Consumer.Start.BEGINNING)
                .build()) {
            consumer.assign(List.of(partition));
            List<String> values = new ArrayList<>();
            while (values.size() <= RECORDS) {
                consumer.poll(POLL).forEach(record -> values.add(new String(record.value(), UTF_8)));
            }
            assertThat(values).contains(canary).allMatch(value -> value.startsWith(canary));
        }
    }

    @Test
    void shouldFindOnlyTheTextOfPlainTopicsWhenHeapAndFilesOfTheBrokerAreSearched() throws Exception {
        // given
        String secret = "secret-" + UUID.randomUUID() + "-";
        String open = "plain-" + UUID.randomUUID() + "-";
        SealPolicy policy = policy();
        for (String topic : List.of("sealed", "records")) {
            send(Producer.builder().seal(policy), topic, secret);
            read(Consumer.builder().open(policy), topic, secret);
        }
        send(Producer.builder(), "plain", open);
        read(Consumer.builder(), "plain", open);

        // when
        Path dump = directory.resolve("heap.hprof");
        process.getOutputStream().write((dump + "\n").getBytes(UTF_8));
        process.getOutputStream().flush();
        assertThat(printed.readLine()).isEqualTo("dumped");

        // then
        assertThat(contains(dump, open))
                .as("the search finds plain text in the heap")
                .isTrue();
        assertThat(contains(dump, secret)).as("sealed text in the heap").isFalse();
        boolean found = false;
        try (Stream<Path> files = Files.walk(directory.resolve("data"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                found |= contains(file, open);
                assertThat(contains(file, secret)).as("sealed text in %s", file).isFalse();
            }
        }
        assertThat(found).as("the search finds plain text in the files").isTrue();
    }

    private static boolean contains(Path file, String text) throws IOException {
        String wanted = new String(text.getBytes(UTF_8), ISO_8859_1);
        try (var in = Files.newInputStream(file)) {
            String rest = "";
            while (true) {
                byte[] piece = in.readNBytes(PIECE_BYTES);
                String searched = rest + new String(piece, ISO_8859_1);
                if (searched.contains(wanted)) {
                    return true;
                }
                if (piece.length < PIECE_BYTES) {
                    return false;
                }
                rest = searched.substring(searched.length() - wanted.length());
            }
        }
    }
}
