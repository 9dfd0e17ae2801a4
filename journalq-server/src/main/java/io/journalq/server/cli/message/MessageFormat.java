package io.journalq.server.cli.message;

import io.journalq.common.record.Header;
import io.journalq.server.cli.shell.Json;
import io.journalq.server.cli.shell.Terminal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How consumed messages are shown: their values alone, as JSON, or by a template. Stateless. */
@FunctionalInterface
interface MessageFormat {
    Pattern PLACEHOLDER = Pattern.compile("\\{([a-z]+)}");

    /** Writes one message and its line end. */
    void print(Message message, Terminal terminal);

    /**
     * The format of that name.
     *
     * @param text {@code value}, {@code json}, or a template with placeholders such as {@code {offset} {value}}
     * @param keySeparator put between key and value by {@code value}; null shows the value only
     * @throws IllegalArgumentException when it is none of these; the message says what would be
     */
    static MessageFormat parse(String text, String keySeparator) {
        if (text.equals("value")) {
            return keySeparator == null ? MessageFormat::printValue : keyAndValue(keySeparator);
        }
        if (text.equals("json")) {
            return (message, terminal) -> terminal.printLine(Json.line(jsonOf(message)));
        }
        Matcher matcher = PLACEHOLDER.matcher(text);
        if (!matcher.find()) {
            throw new IllegalArgumentException("'" + text + "' is no format; use value, json, or a template such as "
                    + "'{partition}:{offset} {key} {value}'");
        }
        do {
            fieldOf(matcher.group(1), NOTHING);
        } while (matcher.find());
        return template(unescape(text));
    }

    /** The message as the JSON object that {@code produce --format json} reads back. */
    static Map<String, Object> jsonOf(Message message) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", message.topic());
        json.put("partition", message.partition());
        json.put("offset", message.offset());
        json.put("timestamp", message.timestampMs());
        putBytes(json, "key", message.key());
        putBytes(json, "value", message.value());
        if (!message.headers().isEmpty()) {
            // A list, not an object: a name may occur more than once.
            json.put(
                    "headers",
                    message.headers().stream().map(MessageFormat::jsonOf).toList());
        }
        return json;
    }

    private static Map<String, Object> jsonOf(Header header) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", header.key());
        putBytes(json, "value", header.value());
        return json;
    }

    /** Text where the bytes are text, base64 under another name where they are not. */
    private static void putBytes(Map<String, Object> json, String name, byte[] bytes) {
        if (bytes == null) {
            json.put(name, null);
            return;
        }
        try {
            json.put(
                    name,
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(bytes))
                            .toString());
        } catch (CharacterCodingException binary) {
            json.put(name + "Base64", Base64.getEncoder().encodeToString(bytes));
        }
    }

    private static void printValue(Message message, Terminal terminal) {
        if (message.value() != null) {
            terminal.write(message.value());
        }
        terminal.print("\n");
    }

    private static MessageFormat keyAndValue(String keySeparator) {
        return (message, terminal) -> {
            if (message.key() != null) {
                terminal.write(message.key());
            }
            terminal.print(keySeparator);
            printValue(message, terminal);
        };
    }

    private static MessageFormat template(String template) {
        return (message, terminal) -> terminal.printLine(PLACEHOLDER
                .matcher(template)
                .replaceAll(found -> Matcher.quoteReplacement(fieldOf(found.group(1), message))));
    }

    /** What checks a template's names before there is a message. */
    Message NOTHING = new Message("", 0, 0, 0, null, null, List.of());

    private static String fieldOf(String name, Message message) {
        return switch (name) {
            case "topic" -> message.topic();
            case "partition" -> Integer.toString(message.partition());
            case "offset" -> Long.toString(message.offset());
            case "timestamp" -> Long.toString(message.timestampMs());
            case "time" -> Instant.ofEpochMilli(message.timestampMs()).toString();
            case "key" -> textOf(message.key());
            case "value" -> textOf(message.value());
            case "size" -> Integer.toString(message.value() == null ? 0 : message.value().length);
            case "headers" ->
                String.join(
                        ",",
                        message.headers().stream()
                                .map(header -> header.key() + "=" + textOf(header.value()))
                                .toList());
            default ->
                throw new IllegalArgumentException("{" + name + "} is no part of a message; use {topic}, {partition}, "
                        + "{offset}, {timestamp}, {time}, {key}, {value}, {size} or {headers}");
        };
    }

    private static String textOf(byte[] bytes) {
        return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
    }

    /** Tab and line end, which a shell does not easily pass on. */
    static String unescape(String text) {
        return text.replace("\\t", "\t").replace("\\n", "\n");
    }
}
