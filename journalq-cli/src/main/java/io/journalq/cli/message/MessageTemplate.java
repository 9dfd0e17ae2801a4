package io.journalq.cli.message;

import io.journalq.cli.shell.Terminal;
import io.journalq.common.record.Header;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parsed template with placeholders for the parts of a message. */
final class MessageTemplate implements MessageFormat {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{([a-z]+)}");

    /** Writes a part of the line. */
    @FunctionalInterface
    private interface Piece {
        void print(ConsumedMessage message, Terminal terminal);
    }

    private final List<Piece> pieces;
    private final Terminal terminal;

    private MessageTemplate(List<Piece> pieces, Terminal terminal) {
        this.pieces = pieces;
        this.terminal = terminal;
    }

    static MessageTemplate parse(String text, Terminal terminal) {
        List<Piece> pieces = new ArrayList<>();
        Matcher matcher = PLACEHOLDER.matcher(text);
        int end = 0;
        while (matcher.find()) {
            pieces.add(literal(text.substring(end, matcher.start())));
            pieces.add(part(matcher.group(1)));
            end = matcher.end();
        }
        if (pieces.isEmpty()) {
            throw new IllegalArgumentException("'" + text + "' is not a format; use value, json, or a template such as "
                    + "'{partition}:{offset} {key} {value}'");
        }
        pieces.add(literal(text.substring(end) + "\n"));
        return new MessageTemplate(pieces, terminal);
    }

    @Override
    public void print(ConsumedMessage message) {
        for (Piece piece : pieces) {
            piece.print(message, terminal);
        }
    }

    private static Piece literal(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return (message, terminal) -> terminal.write(bytes);
    }

    private static Piece part(String name) {
        return switch (name) {
            case "topic" -> (message, terminal) -> terminal.print(message.topic());
            case "partition" -> (message, terminal) -> terminal.print(Integer.toString(message.partition()));
            case "offset" -> (message, terminal) -> terminal.print(Long.toString(message.offset()));
            case "timestamp" -> (message, terminal) -> terminal.print(Long.toString(message.timestampMs()));
            case "time" ->
                (message, terminal) -> terminal.print(
                        Instant.ofEpochMilli(message.timestampMs()).toString());
            case "key" -> (message, terminal) -> writeIfPresent(message.key(), terminal);
            case "value" -> (message, terminal) -> writeIfPresent(message.value(), terminal);
            case "size" ->
                (message, terminal) -> {
                    ByteBuf value = message.value();
                    terminal.print(Integer.toString(value == null ? 0 : value.readableBytes()));
                };
            case "headers" -> (message, terminal) -> writeHeaders(message.headers(), terminal);
            default ->
                throw new IllegalArgumentException("{" + name + "} is not a placeholder; use {topic}, {partition}, "
                        + "{offset}, {timestamp}, {time}, {key}, {value}, {size} or {headers}");
        };
    }

    private static void writeIfPresent(ByteBuf bytes, Terminal terminal) {
        if (bytes != null) {
            terminal.write(bytes);
        }
    }

    private static void writeHeaders(List<Header> headers, Terminal terminal) {
        for (int i = 0; i < headers.size(); i++) {
            terminal.print((i == 0 ? "" : ",") + headers.get(i).key() + "=");
            byte[] value = headers.get(i).value();
            if (value != null) {
                terminal.write(value);
            }
        }
    }
}
