package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.journalq.client.seal.BatchSealer;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The published vectors of the format: {@code src/test/resources/jqe1-vectors*.json}. Later versions must open them, and
 * so must a program in another language. {@link #main} makes a file of what the first three lack.
 */
class VectorsTest {
    private static final Path RESOURCES = Path.of("src", "test", "resources");
    /** Those with RSA keys and tokens came later, then those with signatures, and then those with keys of subjects. */
    private static final List<Path> VECTORS = List.of(
            RESOURCES.resolve("jqe1-vectors.json"),
            RESOURCES.resolve("jqe1-vectors-2.json"),
            RESOURCES.resolve("jqe1-vectors-3.json"),
            RESOURCES.resolve("jqe1-vectors-4.json"));

    private static final Path PROGRAM = Path.of("src", "test", "python", "open_vectors.py");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final int PYTHON_SECONDS = 60;
    private static final int MAX_PROGRAM_LINES = 100;
    private static final String SHREDDED = "key-1";

    @TempDir
    private Path directory;

    /** Writes a new file of vectors: {@code java … io.journalq.seal.VectorsTest FILE}. */
    public static void main(String[] arguments) throws IOException {
        try (SealedWorld world = new SealedWorld()) {
            ObjectNode root = JSON.createObjectNode();
            RawKeyPair role = (RawKeyPair) world.readerVault.role(SealedWorld.ROLE, 1);
            root.put("realm", SealedWorld.REALM);
            root.put("rolePrivate", HEX.formatHex(role.privateKey()));
            root.put("rolePublic", HEX.formatHex(role.publicKey()));
            root.put(
                    "senderPublic",
                    HEX.formatHex(world.senderVault.sender(SealedWorld.SENDER).publicKey()));
            ArrayNode batches = root.putArray("batches");
            add(batches, "records of three subjects, one of them destroyed", world, world.sealer(), 3, 10);
            world.subjects.shred(SealedWorld.PATIENTS.topic(), SHREDDED.getBytes(UTF_8));
            root.put("passphrase", SealedWorld.SUBJECTS_PASSPHRASE);
            ObjectNode subjects = root.putObject("subjects");
            try (Stream<Path> files = Files.walk(world.subjectsDirectory)) {
                for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                    subjects.put(file.getFileName().toString(), HEX.formatHex(Files.readAllBytes(file)));
                }
            }
            JSON.writerWithDefaultPrettyPrinter()
                    .writeValue(Path.of(arguments[0]).toFile(), root);
        }
    }

    private static void add(
            ArrayNode batches, String name, SealedWorld world, BatchSealer sealer, int count, int valueBytes) {
        TopicPartition partition = SealedWorld.PATIENTS;
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, count, valueBytes);
        List<SealedWorld.Plain> records = SealedWorld.read(plain);
        records.removeIf(record -> record.key().equals(SHREDDED));
        ObjectNode entry = batches.addObject();
        entry.put("name", name);
        entry.put("topic", partition.topic());
        entry.put("partition", partition.partition());
        entry.put("batch", HEX.formatHex(SealedWorld.seal(sealer, partition, plain, 0)));
        List<KeyLog.Entry> packets = world.keys.entries(KeyPacket.TOPIC);
        entry.put("packet", HEX.formatHex(packets.get(packets.size() - 1).value()));
        ArrayNode shown = entry.putArray("records");
        for (SealedWorld.Plain record : records) {
            ArrayNode one = shown.addArray();
            one.add(HEX.formatHex(record.key().getBytes(UTF_8)));
            one.add(HEX.formatHex(record.value().getBytes(UTF_8)));
            ArrayNode headers = one.addArray();
            for (Header header : record.headers()) {
                headers.addArray().add(header.key()).add(header.value() == null ? null : HEX.formatHex(header.value()));
            }
        }
    }

    @Test
    void shouldOpenTheVectorsOfEarlierVersions() throws IOException {
        for (Path file : VECTORS) {
            JsonNode vectors = JSON.readTree(file.toFile());
            open(vectors, vectors.has("subjects") ? subjects(vectors) : null);
        }
    }

    /** The directory of keys of subjects, as an earlier version has made it. */
    private SubjectKeys subjects(JsonNode vectors) throws IOException {
        Path subjects = directory.resolve("subjects");
        OwnerOnly.createDirectory(subjects);
        for (Map.Entry<String, JsonNode> file : vectors.get("subjects").properties()) {
            String name = file.getKey();
            Path place = name.equals("store") ? subjects : subjects.resolve(name.substring(0, 2));
            Files.createDirectories(place);
            Files.write(place.resolve(name), HEX.parseHex(file.getValue().textValue()));
        }
        return SubjectKeys.open(subjects, vectors.get("passphrase").textValue().toCharArray());
    }

    private static RoleKey key(JsonNode vectors, KeyPacket.Recipient recipient) {
        return recipient.isRsa()
                ? RsaRoleKey.of(bytes(vectors, "rsaPrivate"), bytes(vectors, "rsaPublic"))
                : new RawKeyPair(bytes(vectors, "rolePrivate"), bytes(vectors, "rolePublic"));
    }

    private static byte[] bytes(JsonNode vectors, String name) {
        return HEX.parseHex(vectors.get(name).textValue());
    }

    private static void open(JsonNode vectors, SubjectKeys subjects) {
        for (JsonNode entry : vectors.get("batches")) {
            byte[] encoded = HEX.parseHex(entry.get("packet").textValue());
            assertThat(KeyPacket.isSigned(
                            encoded, HEX.parseHex(vectors.get("senderPublic").textValue())))
                    .isTrue();
            KeyPacket packet = KeyPacket.decode(encoded);
            List<String> expected = new ArrayList<>();
            entry.get("records").forEach(record -> expected.add(record.toString()));
            for (KeyPacket.Recipient recipient : packet.recipients()) {
                EpochKeys keys = packet.open(recipient, key(vectors, recipient));

                assertThat(open(vectors, entry, keys, subjects, packet.signsBatches()))
                        .as("%s, %s", entry.get("name").textValue(), recipient.role())
                        .isEqualTo(expected);
            }
        }
    }

    private static List<String> open(
            JsonNode vectors, JsonNode entry, EpochKeys keys, SubjectKeys subjects, boolean signsBatches) {
        String realm = vectors.get("realm").textValue();
        TopicPartition partition = new TopicPartition(
                entry.get("topic").textValue(), entry.get("partition").intValue());
        ByteBuf batch = Unpooled.wrappedBuffer(HEX.parseHex(entry.get("batch").textValue()));
        ByteBuf out = Unpooled.buffer();
        try (BatchReader reader = new BatchReader(ByteBufAllocator.DEFAULT)) {
            reader.reset(batch);
            reader.nextBatch();
            reader.next();
            byte[] value = SealedBatch.find(reader.headers());
            Envelope envelope = Envelope.decode(value);
            if (envelope.mode() == SealMode.BATCH) {
                byte[] signer = signsBatches ? bytes(vectors, "senderPublic") : null;
                SealedBatch.Origin origin = new SealedBatch.Origin(keys.key(SealMode.BATCH, realm, partition), signer);
                SealedBatch.open(value, envelope, origin, realm, partition, batch, 0, out);
            } else {
                reader.rewind();
                SealedRecords.open(
                        reader,
                        envelope.mode(),
                        keysOf(keys.key(envelope.mode(), realm, partition), subjects),
                        realm,
                        partition,
                        batch,
                        0,
                        out,
                        new ArrayList<>());
            }
        }
        List<String> shown = new ArrayList<>();
        for (SealedWorld.Plain record : SealedWorld.read(out)) {
            ArrayNode one = JSON.createArrayNode();
            one.add(HEX.formatHex(record.key().getBytes(UTF_8)));
            one.add(HEX.formatHex(record.value().getBytes(UTF_8)));
            ArrayNode headers = one.addArray();
            record.headers().forEach(header -> headers.addArray()
                    .add(header.key())
                    .add(header.value() == null ? null : HEX.formatHex(header.value())));
            shown.add(one.toString());
        }
        return shown;
    }

    private static SealedRecords.Keys keysOf(SecretKeySpec key, SubjectKeys subjects) {
        return new SealedRecords.Keys() {
            @Override
            public SecretKeySpec key(Envelope envelope) {
                return key;
            }

            @Override
            public SubjectKeys subjects() {
                return subjects;
            }
        };
    }

    @Test
    void shouldBeOpenedByAShortPythonProgramIfItsLibraryIsInstalled() throws Exception {
        assertThat(Files.readAllLines(PROGRAM)).hasSizeLessThanOrEqualTo(MAX_PROGRAM_LINES);
        assumeTrue(hasLibrary(), "python3 -m pip install cryptography");

        runProgram();
    }

    @Tag("long")
    @Test
    void shouldBeOpenedByAShortPythonProgram() throws Exception {
        assertThat(hasLibrary()).as("python3 -m pip install cryptography").isTrue();

        runProgram();
    }

    private boolean hasLibrary() throws Exception {
        try {
            return python("-c", "import cryptography") == 0;
        } catch (IOException noPython) {
            return false;
        }
    }

    private void runProgram() throws Exception {
        for (Path file : VECTORS) {
            int exit = python(PROGRAM.toString(), file.toString());

            String printed = Files.readString(directory.resolve("printed"));
            assertThat(exit).as(printed).isZero();
            int expected = 0;
            for (JsonNode entry : JSON.readTree(file.toFile()).get("batches")) {
                expected += entry.get("records").size();
            }
            assertThat(printed.strip()).isEqualTo(String.valueOf(expected));
        }
    }

    private int python(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("python3"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("printed").toFile())
                .start();
        try {
            assertThat(process.waitFor(PYTHON_SECONDS, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }
}
