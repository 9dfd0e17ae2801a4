package io.journalq.cli.message;

import io.journalq.cli.shell.Terminal;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** Writes consumed messages: only their values, as JSON, or with a template. One thread. */
@FunctionalInterface
interface MessageFormat {
    /** Writes one message and a line terminator. */
    void print(ConsumedMessage message);

    /**
     * Returns the format with this name.
     *
     * @param text {@code value}, {@code json}, or a template with placeholders such as {@code {offset} {value}}
     * @param keySeparator the separator that {@code value} writes between key and value; null to write only values
     * @throws IllegalArgumentException if it is none of these; the message lists what is allowed
     */
    static MessageFormat parse(String text, String keySeparator, Terminal terminal) {
        if (text.equals("value")) {
            return keySeparator == null
                    ? message -> printValue(message, terminal)
                    : keyAndValue(keySeparator.getBytes(StandardCharsets.UTF_8), terminal);
        }
        return text.equals("json") ? new JsonMessages(terminal) : MessageTemplate.parse(unescape(text), terminal);
    }

    private static void printValue(ConsumedMessage message, Terminal terminal) {
        ByteBuf value = message.value();
        if (value != null) {
            terminal.write(value);
        }
        terminal.write('\n');
    }

    private static MessageFormat keyAndValue(byte[] keySeparator, Terminal terminal) {
        return message -> {
            ByteBuf key = message.key();
            if (key != null) {
                terminal.write(key);
            }
            terminal.write(keySeparator);
            printValue(message, terminal);
        };
    }

    /** Replaces escape sequences for tab and line feed, which are hard to enter in a shell. */
    static String unescape(String text) {
        return text.replace("\\t", "\t").replace("\\n", "\n");
    }
}
