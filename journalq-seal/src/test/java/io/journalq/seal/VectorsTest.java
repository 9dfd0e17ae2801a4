package io.journalq.seal;

import static io.journalq.seal.SealedWorld.ORDERS;
import static io.journalq.seal.SealedWorld.PRICES;
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
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The published vectors of the format: {@code src/test/resources/jqe1-vectors.json}. Later versions must open them, and
 * so must a program in another language. {@link #main} makes a new file.
 */
class VectorsTest {
    private static final Path VECTORS = Path.of("src", "test", "resources", "jqe1-vectors.json");
    private static final Path PROGRAM = Path.of("src", "test", "python", "open_vectors.py");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final int PYTHON_SECONDS = 60;
    private static final int MAX_PROGRAM_LINES = 100;

    @TempDir
    private Path directory;

    /** Writes a new file of vectors: {@code java … io.journalq.seal.VectorsTest FILE}. */
    public static void main(String[] arguments) throws IOException {
        try (SealedWorld world = new SealedWorld()) {
            ObjectNode root = JSON.createObjectNode();
            RawKeyPair role = world.readerVault.role(SealedWorld.ROLE, 1);
            root.put("realm", SealedWorld.REALM);
            root.put("rolePrivate", HEX.formatHex(role.privateKey()));
            root.put("rolePublic", HEX.formatHex(role.publicKey()));
            root.put(
                    "senderPublic",
                    HEX.formatHex(world.senderVault.sender(SealedWorld.SENDER).publicKey()));
            ArrayNode batches = root.putArray("batches");
            BatchSealer sealer = world.sealer();
            add(batches, "a batch of three records", world, sealer, ORDERS, 3, 10);
            add(batches, "a batch of several frames", world, sealer, ORDERS, 1, 70_000);
            add(batches, "records that are sealed one by one", world, sealer, PRICES, 3, 10);
            JSON.writerWithDefaultPrettyPrinter()
                    .writeValue(Path.of(arguments[0]).toFile(), root);
        }
    }

    private static void add(
            ArrayNode batches,
            String name,
            SealedWorld world,
            BatchSealer sealer,
            TopicPartition partition,
            int count,
            int valueBytes) {
        ByteBuf plain = SealedWorld.batch(CompressionCodec.NONE, count, valueBytes);
        List<SealedWorld.Plain> records = SealedWorld.read(plain);
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
        JsonNode vectors = JSON.readTree(VECTORS.toFile());
        RawKeyPair role = new RawKeyPair(
                HEX.parseHex(vectors.get("rolePrivate").textValue()),
                HEX.parseHex(vectors.get("rolePublic").textValue()));
        for (JsonNode entry : vectors.get("batches")) {
            byte[] encoded = HEX.parseHex(entry.get("packet").textValue());
            assertThat(KeyPacket.isSigned(
                            encoded, HEX.parseHex(vectors.get("senderPublic").textValue())))
                    .isTrue();
            KeyPacket packet = KeyPacket.decode(encoded);
            EpochKeys keys = packet.open(packet.recipients().get(0), role);

            List<String> opened = open(vectors, entry, keys);

            List<String> expected = new ArrayList<>();
            entry.get("records").forEach(record -> expected.add(record.toString()));
            assertThat(opened).as(entry.get("name").textValue()).isEqualTo(expected);
        }
    }

    private static List<String> open(JsonNode vectors, JsonNode entry, EpochKeys keys) {
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
                SealedBatch.open(
                        value, envelope, keys.key(SealMode.BATCH, realm, partition), realm, partition, batch, 0, out);
            } else {
                reader.rewind();
                SealedRecords.open(
                        reader, each -> keys.key(SealMode.RECORD, realm, partition), realm, partition, batch, 0, out);
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
        int exit = python(PROGRAM.toString(), VECTORS.toString());

        String printed = Files.readString(directory.resolve("printed"));
        assertThat(exit).as(printed).isZero();
        assertThat(printed.strip()).isEqualTo("7");
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
