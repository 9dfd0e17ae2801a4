package io.journalq.cli.message;

import io.journalq.cli.shell.Terminal;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** How consumed messages are shown: their values alone, as JSON, or by a template. One thread. */
@FunctionalInterface
interface MessageFormat {
    /** Writes one message and its line end. */
    void print(Message message);

    /**
     * The format of that name.
     *
     * @param text {@code value}, {@code json}, or a template with placeholders such as {@code {offset} {value}}
     * @param keySeparator put between key and value by {@code value}; null shows the value only
     * @throws IllegalArgumentException when it is none of these; the message says what would be
     */
    static MessageFormat parse(String text, String keySeparator, Terminal terminal) {
        if (text.equals("value")) {
            return keySeparator == null
                    ? message -> printValue(message, terminal)
                    : keyAndValue(keySeparator.getBytes(StandardCharsets.UTF_8), terminal);
        }
        return text.equals("json") ? new JsonMessages(terminal) : MessageTemplate.parse(unescape(text), terminal);
    }

    private static void printValue(Message message, Terminal terminal) {
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

    /** Tab and line end, which a shell does not easily pass on. */
    static String unescape(String text) {
        return text.replace("\\t", "\t").replace("\\n", "\n");
    }
}
