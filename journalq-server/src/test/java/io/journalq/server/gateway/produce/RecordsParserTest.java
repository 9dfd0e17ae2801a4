package io.journalq.server.gateway.produce;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.common.record.Header;
import io.journalq.server.gateway.problem.ProblemException;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the parser with Jackson, on valid and damaged documents that arrive in parts of any size. */
class RecordsParserTest {
    private static final int DOCUMENTS = 20_000;
    private static final int PARTITIONS = 3;
    private static final long NOW = 1_000;
    private static final Targets.Target TARGET = new Targets.Target("t", PARTITIONS, 0, 1 << 20, () -> NOW, null);

    private static final ObjectMapper MAPPER = new ObjectMapper()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .configure(JsonParser.Feature.STRICT_DUPLICATE_DETECTION, true);

    private static final List<String> VALUES = List.of(
            "\"text\"",
            "\"\"",
            "\"eight by\"",
            "\"sixteen bytes...\"",
            "\"a \\\" quote, a \\\\ and \\/\"",
            "\"\\b\\f\\n\\r\\t\"",
            "\"\\u00e9\\u20AC\\ud83d\\ude00\"",
            "\"é€😀 and more behind it\"",
            "\"\\ud83d\"",
            "\"\\ud83dx\\ude00\"",
            "\"\\u12\"",
            "\"\\x\"",
            "\"tab\tinside\"",
            "\"" + "x".repeat(300) + "\"",
            "\"" + "x".repeat(3_000) + "\"",
            "\"" + "}".repeat(300) + "\"",
            "null",
            "true",
            "false",
            "nul",
            "0",
            "-1",
            "17",
            "01",
            "1.50",
            "1.",
            "-",
            "1e5",
            "2E+3",
            "9223372036854775807",
            "9223372036854775808",
            "AAEC",
            "\"AAEC\"",
            "\"/w==\"",
            "\"%\"",
            "{}",
            "[]",
            "{\"a\":[1,{\"b\":null}],\"c\":\"\\u00e9\"}",
            "[true,false,nul]",
            "[tru",
            "[[\"\\ud83d\"]]",
            "{\"a\" 1}");
    private static final Pattern CHANGED_NUMBER =
            Pattern.compile("-0+(?![\\d.eE])|-?\\d+(\\.\\d+([eE][+-]?\\d+)?|[eE][+-]?\\d+)");
    private static final List<String> NAMES = List.of(
            "key",
            "value",
            "keyBase64",
            "valueBase64",
            "partition",
            "timestamp",
            "headers",
            "name",
            "v\\u0061lue",
            "x");
    private static final List<String> SPACES = List.of("", "", "", " ", "\n", "\t \r\n");

    @Test
    void shouldNotScanALargeRecordAgainAndAgainWhenItArrivesSlowly() {
        byte[] document = ("{\"records\":[{\"value\":\"" + "x".repeat(500_000) + "\"}]}").getBytes(UTF_8);
        List<Integer> sizes = new ArrayList<>();
        long scannedBytes = 0;
        try (RecordsParser parser = new RecordsParser(
                UnpooledByteBufAllocator.DEFAULT,
                RecordsParser.Form.DOCUMENT,
                TARGET,
                (partition, time, key, value, headers) -> sizes.add(value.readableBytes()))) {
            for (int from = 0; from < document.length; from += 500) {
                parser.parse(Unpooled.wrappedBuffer(document, from, Math.min(500, document.length - from)));
                scannedBytes += parser.takeScannedBytes();
            }
            parser.end();
        }

        assertThat(sizes).containsExactly(500_000);
        assertThat(scannedBytes).isLessThan(3L * document.length);
    }

    /** In these forms, which Jackson takes for characters, the stored JSON would not be what the client sent. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "[\"\u00c0\u0080\"]",
                "{\"\u00c1\u00a1\":1}",
                "[\"\u00ed\u00a0\u00bd\u00ed\u00b8\u0080\"]",
                "[\0001\000]\000"
            })
    void shouldRefuseAnObjectOrArrayThatIsNotUtf8(String value) {
        byte[] document = ("{\"records\":[{\"value\":" + value + "}]}").getBytes(ISO_8859_1);
        List<Integer> sizes = new ArrayList<>();

        try (RecordsParser parser = new RecordsParser(
                UnpooledByteBufAllocator.DEFAULT,
                RecordsParser.Form.DOCUMENT,
                TARGET,
                (partition, time, key, bytes, headers) -> sizes.add(bytes.readableBytes()))) {
            assertThatThrownBy(() -> {
                        parser.parse(Unpooled.wrappedBuffer(document));
                        parser.end();
                    })
                    .isInstanceOf(ProblemException.class);
        }
        assertThat(sizes).isEmpty();
    }

    @Test
    void shouldReadWhatJacksonReadsAndRefuseTheRest() {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        int valid = 0;
        for (int i = 0; i < DOCUMENTS; i++) {
            byte[] document = document(random).getBytes(UTF_8);
            if (random.nextInt(3) == 0) {
                damage(document, random);
            }
            if (hasOtherNumbers(document)) {
                continue;
            }
            List<String> expected = expected(document);
            List<String> parsed = parsed(document, random);
            assertThat(parsed)
                    .as("-Dseed=%d, document %s", seed, new String(document, UTF_8))
                    .isEqualTo(expected);
            valid += expected == null ? 0 : 1;
        }
        assertThat(valid).isGreaterThan(DOCUMENTS / 20);
    }

    private static String document(Random random) {
        StringBuilder text = new StringBuilder();
        text.append(space(random))
                .append('{')
                .append(space(random))
                .append("\"records\"")
                .append(space(random));
        text.append(':').append(space(random)).append('[').append(space(random));
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            text.append(i == 0 ? "" : ",")
                    .append(space(random))
                    .append(record(random))
                    .append(space(random));
        }
        return text.append(']')
                .append(space(random))
                .append('}')
                .append(space(random))
                .toString();
    }

    private static String record(Random random) {
        StringBuilder text = new StringBuilder("{").append(space(random));
        int count = random.nextInt(4);
        int first = random.nextInt(NAMES.size());
        for (int i = 0; i < count; i++) {
            String name = random.nextInt(10) == 0 ? pick(NAMES, random) : NAMES.get((first + i) % 7);
            text.append(i == 0 ? "" : ",").append(space(random));
            text.append('"')
                    .append(name)
                    .append('"')
                    .append(space(random))
                    .append(':')
                    .append(space(random));
            text.append(random.nextInt(3) == 0 ? pick(VALUES, random) : fitting(name, random))
                    .append(space(random));
        }
        return text.append('}').toString();
    }

    private static String fitting(String name, Random random) {
        return switch (name) {
            case "partition" -> String.valueOf(random.nextInt(PARTITIONS + 1));
            case "timestamp" -> String.valueOf(random.nextInt(100));
            case "keyBase64", "valueBase64" -> "\"AAEC\"";
            case "headers" ->
                random.nextInt(3) == 0
                        ? "[ ]"
                        : "[{\"name\":\"h\",\"value\":" + pick(VALUES, random)
                                + "} , {\"valueBase64\":\"/w==\",\"name\":\"é\"}]";
            default -> VALUES.get(random.nextInt(8));
        };
    }

    private static String space(Random random) {
        return pick(SPACES, random);
    }

    private static String pick(List<String> texts, Random random) {
        return texts.get(random.nextInt(texts.size()));
    }

    private static void damage(byte[] document, Random random) {
        byte[] bytes = "\"\\{}[]:,0en \u0000\u001f".getBytes(UTF_8);
        int index = random.nextInt(document.length);
        document[index] = random.nextInt(4) == 0 ? (byte) random.nextInt() : bytes[random.nextInt(bytes.length)];
    }

    /** Whether damage has made a number that Jackson does not write as it was sent, such as 1.20, or cannot hold. */
    private static boolean hasOtherNumbers(byte[] document) {
        return CHANGED_NUMBER
                .matcher(new String(document, UTF_8))
                .results()
                .anyMatch(number -> !VALUES.contains(number.group()));
    }

    /** The records; null if the document is refused. */
    private static List<String> parsed(byte[] document, Random random) {
        List<String> records = new ArrayList<>();
        JsonRecord.Receiver receiver = (partition, timestampMs, key, value, headers) -> records.add(
                line(partition, timestampMs, key, value == null ? null : ByteBufUtil.getBytes(value), headers));
        try (RecordsParser parser =
                new RecordsParser(UnpooledByteBufAllocator.DEFAULT, RecordsParser.Form.DOCUMENT, TARGET, receiver)) {
            int largest = random.nextBoolean() ? 8 : document.length;
            for (int from = 0; from < document.length; ) {
                int to = Math.min(document.length, from + 1 + random.nextInt(largest));
                parser.parse(Unpooled.wrappedBuffer(Arrays.copyOfRange(document, from, to)));
                from = to;
            }
            parser.end();
            return records;
        } catch (ProblemException refusal) {
            return null;
        }
    }

    private static String line(int partition, long timestampMs, byte[] key, byte[] value, List<Header> headers) {
        StringBuilder line = new StringBuilder();
        line.append(partition)
                .append(' ')
                .append(timestampMs)
                .append(' ')
                .append(hex(key))
                .append(' ')
                .append(hex(value));
        headers.forEach(
                header -> line.append(' ').append(header.key()).append('=').append(hex(header.value())));
        return line.toString();
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? "null" : HexFormat.of().formatHex(bytes);
    }

    /** What Jackson makes of the document, by the rules of the guide. */
    private static List<String> expected(byte[] document) {
        try {
            if (!ByteBufUtil.isText(Unpooled.wrappedBuffer(document), UTF_8)) {
                return null;
            }
            JsonNode root = MAPPER.readTree(new String(document, UTF_8));
            require(root != null
                    && root.isObject()
                    && root.size() == 1
                    && root.path("records").isArray());
            List<String> records = new ArrayList<>();
            for (JsonNode record : root.get("records")) {
                records.add(expected(record, document));
            }
            return records;
        } catch (IOException | IllegalArgumentException refused) {
            return null;
        }
    }

    private static String expected(JsonNode record, byte[] document) throws JsonProcessingException {
        require(record.isObject());
        byte[] key = null;
        byte[] value = null;
        long partition = -1;
        long timestampMs = -1;
        List<Header> headers = new ArrayList<>();
        require(!(record.has("key") && record.has("keyBase64")) && !(record.has("value") && record.has("valueBase64")));
        for (Map.Entry<String, JsonNode> member : record.properties()) {
            JsonNode node = member.getValue();
            switch (member.getKey()) {
                case "key" -> key = text(node);
                case "keyBase64" -> key = binary(node);
                case "value" -> value = node.isTextual() || node.isNull() ? text(node) : json(node, document);
                case "valueBase64" -> value = binary(node);
                case "partition" -> {
                    partition = number(node);
                    require(partition < PARTITIONS);
                }
                case "timestamp" -> timestampMs = number(node);
                case "headers" -> {
                    require(node.isArray());
                    for (JsonNode header : node) {
                        headers.add(header(header));
                    }
                }
                default -> require(false);
            }
        }
        return line(
                partition >= 0 ? (int) partition : TARGET.partition(key),
                timestampMs >= 0 ? timestampMs : NOW,
                key,
                value,
                headers);
    }

    private static Header header(JsonNode header) {
        require(header.isObject() && header.path("name").isTextual());
        require(!(header.has("value") && header.has("valueBase64")));
        header.fieldNames()
                .forEachRemaining(
                        name -> require(List.of("name", "value", "valueBase64").contains(name)));
        byte[] value = header.has("value")
                ? text(header.get("value"))
                : header.has("valueBase64") ? binary(header.get("valueBase64")) : null;
        return new Header(new String(text(header.get("name")), UTF_8), value);
    }

    private static byte[] text(JsonNode node) {
        require(node.isTextual() || node.isNull());
        require(node.isNull() || UTF_8.newEncoder().canEncode(node.textValue()));
        return node.isNull() ? null : node.textValue().getBytes(UTF_8);
    }

    private static byte[] binary(JsonNode node) {
        byte[] text = text(node);
        return text == null ? null : Base64.getDecoder().decode(text);
    }

    /** Numbers are stored as they were sent, so the text of a number must be in the document. */
    private static byte[] json(JsonNode node, byte[] document) throws JsonProcessingException {
        String text = MAPPER.writeValueAsString(node);
        require(UTF_8.newEncoder().canEncode(text) && !text.contains("\\uD8"));
        if (node.isNumber()) {
            String all = new String(document, UTF_8);
            for (String candidate : VALUES) {
                if (isNumber(candidate, node) && all.contains(candidate)) {
                    return candidate.getBytes(UTF_8);
                }
            }
        }
        return text.getBytes(UTF_8);
    }

    private static boolean isNumber(String text, JsonNode node) {
        try {
            JsonNode parsed = MAPPER.readTree(text);
            return parsed != null && parsed.isNumber() && parsed.decimalValue().compareTo(node.decimalValue()) == 0;
        } catch (IOException malformed) {
            return false;
        }
    }

    private static long number(JsonNode node) {
        require(node.isIntegralNumber() && node.canConvertToLong() && node.longValue() >= 0);
        return node.longValue();
    }

    private static void require(boolean condition) {
        if (!condition) {
            throw new IllegalArgumentException();
        }
    }
}
