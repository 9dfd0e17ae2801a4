package io.journalq.server.config;

import java.util.List;
import java.util.Locale;

/**
 * The text of {@code conf/journalq.yaml}: every setting with its documentation. Each setting is commented out at its
 * default, so the file has no effect until a line is uncommented.
 */
public final class ConfigFileText {
    private static final int MAX_LINE_LENGTH = 100;

    private static final String HEAD =
            """
            # Settings of a JournalQ broker. Each line that starts with "#name:" holds the default; remove
            # the "#" and change the value to set it. A setting may also come from the environment
            # (fetch.max.bytes is JOURNALQ_FETCH_MAX_BYTES) or from the command line
            # (--set fetch.max.bytes=64MiB): the command line wins over the environment, that over this
            # file. An unknown name is refused at start. Sizes may end in B, KiB, MiB, GiB or TiB, times in
            # ms, s, m, h or d.
            #
            # This file is generated from the settings in the code; a test compares the two.
            """;

    private static final String TOPIC_HEAD =
            """

            # ---- Defaults of topics. A topic may override each of these with a setting of the same name. ----
            """;

    private static final String WITHOUT_EFFECT_HEAD =
            """

            # ---- Settings of Kafka's topics that are checked, kept and shown, and have no effect here. ----
            """;

    private ConfigFileText() {}

    /** The whole file, with a line break at its end. */
    public static String render() {
        StringBuilder text = new StringBuilder(HEAD);
        String head = "";
        for (ConfigKey<?> key : BrokerSettings.ALL.all()) {
            String headOfKey = headOf(key);
            if (!headOfKey.equals(head)) {
                head = headOfKey;
                text.append(head);
            }
            append(text, key);
        }
        return text.toString();
    }

    private static String headOf(ConfigKey<?> key) {
        if (TopicSettings.WITHOUT_EFFECT.find(key.name()) != null) {
            return WITHOUT_EFFECT_HEAD;
        }
        return TopicSettings.ALL.find(key.name()) == null ? "" : TOPIC_HEAD;
    }

    private static void append(StringBuilder text, ConfigKey<?> key) {
        text.append('\n');
        appendWrapped(text, key.documentation());
        text.append("# Type: ").append(typeWords(key)).append(". Default: ").append(defaultWords(key));
        text.append("\n#").append(key.name()).append(": ").append(yaml(key)).append('\n');
    }

    private static void appendWrapped(StringBuilder text, String sentences) {
        int lineLength = MAX_LINE_LENGTH;
        boolean first = true;
        for (String word : sentences.split(" ", -1)) {
            if (lineLength + 1 + word.length() > MAX_LINE_LENGTH) {
                text.append(first ? "#" : "\n#");
                lineLength = 1;
                first = false;
            }
            text.append(' ').append(word);
            lineLength += 1 + word.length();
        }
        text.append('\n');
    }

    public static String typeWords(ConfigKey<?> key) {
        String type = key.type().name().toLowerCase(Locale.ROOT);
        return key.unit() == ConfigUnit.NONE
                ? type
                : type + ", " + key.unit().name().toLowerCase(Locale.ROOT);
    }

    public static String defaultWords(ConfigKey<?> key) {
        String canonical = key.format(key.defaultValue());
        if (canonical.isEmpty()) {
            return "empty";
        }
        String suffixed = suffixed(key);
        return suffixed.equals(canonical) ? canonical : canonical + " (" + suffixed + ")";
    }

    private static String yaml(ConfigKey<?> key) {
        if (key.defaultValue() instanceof List<?> items) {
            return "["
                    + String.join(
                            ", ", items.stream().map(ConfigFileText::quoted).toList()) + "]";
        }
        return key.type() == ConfigKey.Type.STRING || key.isSensitive() ? quoted(key.defaultValue()) : suffixed(key);
    }

    private static String quoted(Object value) {
        return "\"" + String.valueOf(value).replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    /** A number in the largest unit in which it is whole, and any other value in its canonical text. */
    private static String suffixed(ConfigKey<?> key) {
        return key.defaultValue() instanceof Number number && key.unit() != ConfigUnit.NONE
                ? key.unit().format(number.longValue())
                : key.format(key.defaultValue());
    }
}
