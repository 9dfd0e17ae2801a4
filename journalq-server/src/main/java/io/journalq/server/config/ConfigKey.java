package io.journalq.server.config;

import java.util.List;

/**
 * One setting: its name, type, unit, range, default and documentation, and its conversion from and to text. Immutable.
 *
 * @param <T> the type of the parsed value: {@link Boolean}, {@link Integer}, {@link Long}, {@link Double}, {@link
 *     String} or a list of strings
 */
public final class ConfigKey<T> {
    /** Maximum length of the text of a value. */
    static final int MAX_VALUE_LENGTH = 32_768;

    /**
     * The type of a setting's value, with the code by which DescribeConfigs reports it.
     *
     * <p>Source: KIP-569.
     */
    public enum Type {
        BOOLEAN(1),
        STRING(2),
        INT(3),
        LONG(5),
        DOUBLE(6),
        LIST(7),
        /** A secret. Its value is shown nowhere. */
        PASSWORD(9);

        private final byte code;

        Type(int code) {
            this.code = (byte) code;
        }

        /** The code on the wire. */
        public byte code() {
            return code;
        }
    }

    private final String name;
    private final Type type;
    private final ConfigUnit unit;
    private final T defaultValue;
    private final String documentation;
    private final Reader<T> reader;

    private ConfigKey(String name, Type type, ConfigUnit unit, T defaultValue, String documentation, Reader<T> reader) {
        this.name = name;
        this.type = type;
        this.unit = unit;
        this.defaultValue = defaultValue;
        this.documentation = documentation;
        this.reader = reader;
    }

    static ConfigKey<Boolean> ofBoolean(String name, boolean defaultValue, String documentation) {
        return new ConfigKey<>(
                name, Type.BOOLEAN, ConfigUnit.NONE, defaultValue, documentation, ConfigKey::readBoolean);
    }

    static ConfigKey<Integer> ofInt(
            String name, ConfigUnit unit, int defaultValue, int lowest, int highest, String documentation) {
        Reader<Integer> reader = text -> (int) readNumber(text, unit, lowest, highest);
        return new ConfigKey<>(name, Type.INT, unit, defaultValue, documentation, reader);
    }

    static ConfigKey<Long> ofLong(
            String name, ConfigUnit unit, long defaultValue, long lowest, long highest, String documentation) {
        Reader<Long> reader = text -> readNumber(text, unit, lowest, highest);
        return new ConfigKey<>(name, Type.LONG, unit, defaultValue, documentation, reader);
    }

    static ConfigKey<Double> ofFraction(String name, double defaultValue, String documentation) {
        return new ConfigKey<>(
                name, Type.DOUBLE, ConfigUnit.NONE, defaultValue, documentation, ConfigKey::readFraction);
    }

    static ConfigKey<String> ofText(String name, String defaultValue, String documentation) {
        return new ConfigKey<>(name, Type.STRING, ConfigUnit.NONE, defaultValue, documentation, text -> text.strip());
    }

    /**
     * A secret that Kafka has in its configuration. Here, it is read from a file, so that it is in no configuration,
     * environment or command line: every value is refused.
     *
     * @param insteadUse what to do, as an imperative
     */
    static ConfigKey<String> ofPassword(String name, String insteadUse) {
        Reader<String> reader = text -> {
            if (text.isEmpty()) {
                return "";
            }
            throw new ConfigException("a secret must not be in the configuration; " + insteadUse);
        };
        String documentation =
                "Not used, because a secret must not be in the configuration. A value is refused: " + insteadUse + ".";
        return new ConfigKey<>(name, Type.PASSWORD, ConfigUnit.NONE, "", documentation, reader);
    }

    static ConfigKey<String> ofChoice(String name, String defaultValue, List<String> choices, String documentation) {
        return new ConfigKey<>(
                name, Type.STRING, ConfigUnit.NONE, defaultValue, documentation, text -> oneOf(choices, text));
    }

    static ConfigKey<List<String>> ofList(String name, List<String> defaultValue, String documentation) {
        return ofList(name, defaultValue, documentation, item -> item);
    }

    static ConfigKey<List<String>> ofList(
            String name, List<String> defaultValue, String documentation, Reader<String> itemReader) {
        Reader<List<String>> reader = text -> readList(text, itemReader);
        return new ConfigKey<>(name, Type.LIST, ConfigUnit.NONE, defaultValue, documentation, reader);
    }

    /** Reads an item that is one of {@code choices}. */
    static Reader<String> choiceOf(List<String> choices) {
        return text -> oneOf(choices, text);
    }

    /** Returns the same key with a stricter reader of its value. */
    ConfigKey<T> checkedBy(Reader<T> stricterReader) {
        return new ConfigKey<>(name, type, unit, defaultValue, documentation, stricterReader);
    }

    /** Returns the same key with an additional check of the parsed value. */
    ConfigKey<T> checkedAfter(Demand<T> demand) {
        return checkedBy(text -> {
            T value = reader.read(text);
            demand.check(value);
            return value;
        });
    }

    /** Returns the same key, whose list must not be empty. */
    ConfigKey<T> atLeastOneItem() {
        return checkedAfter(value -> {
            if (value instanceof List<?> list && list.isEmpty()) {
                throw new ConfigException("must name at least one");
            }
        });
    }

    /** The dotted name. */
    public String name() {
        return name;
    }

    public Type type() {
        return type;
    }

    /** Whether the value is a secret, which no message and no response contains. */
    public boolean isSensitive() {
        return type == Type.PASSWORD;
    }

    public ConfigUnit unit() {
        return unit;
    }

    /** The value if the setting is not set. */
    public T defaultValue() {
        return defaultValue;
    }

    /** The effect of the setting, in sentences for operators. */
    public String documentation() {
        return documentation;
    }

    /**
     * Parses a value.
     *
     * @param text the text of a file, a command line or a request; numbers may have a suffix of the unit
     * @throws ConfigException when the text does not match the type or the range; the message names the key and valid
     *     values
     */
    public T parse(String text) throws ConfigException {
        if (text.length() > MAX_VALUE_LENGTH) {
            throw new ConfigException(
                    "Invalid value for " + name + ": longer than " + MAX_VALUE_LENGTH + " characters");
        }
        try {
            return reader.read(text);
        } catch (ConfigException wrong) {
            String shown = isSensitive() ? "" : " '" + text + "'";
            throw new ConfigException("Invalid value" + shown + " for " + name + ": " + wrong.getMessage());
        }
    }

    /** The canonical text of a value: plain numbers without suffix, list items joined by commas. */
    public String format(Object value) {
        return value instanceof List<?> list
                ? String.join(",", list.stream().map(String::valueOf).toList())
                : String.valueOf(value);
    }

    /**
     * The canonical text of a value in any form. A text that this release refuses stays as it is: another release stored
     * it.
     */
    public String canonical(String text) {
        try {
            return format(parse(text));
        } catch (ConfigException ofAnotherRelease) {
            return text;
        }
    }

    @Override
    public String toString() {
        return name;
    }

    /** Parses the text of a value. */
    @FunctionalInterface
    interface Reader<T> {
        T read(String text) throws ConfigException;
    }

    /** Checks a parsed value beyond its type and range. */
    @FunctionalInterface
    interface Demand<T> {
        void check(T value) throws ConfigException;
    }

    private static boolean readBoolean(String text) throws ConfigException {
        return switch (text.strip().toLowerCase(java.util.Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new ConfigException("must be true or false");
        };
    }

    private static double readFraction(String text) throws ConfigException {
        try {
            double value = Double.parseDouble(text.strip());
            if (value >= 0.0 && value <= 1.0) {
                return value;
            }
        } catch (NumberFormatException notANumber) {
            // handled below, with the message for both cases
        }
        throw new ConfigException("must be a number from 0 to 1");
    }

    private static long readNumber(String text, ConfigUnit unit, long lowest, long highest) throws ConfigException {
        long value;
        try {
            value = unit.parse(text.strip());
        } catch (IllegalArgumentException notANumber) {
            throw new ConfigException("must be a whole number" + suffixWords(unit));
        } catch (ArithmeticException tooLarge) {
            throw new ConfigException(rangeWords(lowest, highest));
        }
        if (value < lowest || value > highest) {
            throw new ConfigException(rangeWords(lowest, highest));
        }
        return value;
    }

    private static String rangeWords(long lowest, long highest) {
        if (lowest == highest) {
            return "must be " + lowest;
        }
        return highest == Integer.MAX_VALUE || highest == Long.MAX_VALUE
                ? "must be at least " + lowest
                : "must be from " + lowest + " to " + highest;
    }

    private static String suffixWords(ConfigUnit unit) {
        return unit == ConfigUnit.NONE ? "" : ", alone or followed by one of " + String.join(", ", unit.suffixes());
    }

    private static String oneOf(List<String> choices, String text) throws ConfigException {
        String stripped = text.strip();
        if (!choices.contains(stripped)) {
            throw new ConfigException("must be one of " + String.join(", ", choices));
        }
        return stripped;
    }

    /** The items of a list, in the order of its text. */
    static List<String> itemsOf(String text) throws ConfigException {
        return readList(text, item -> item);
    }

    private static List<String> readList(String text, Reader<String> itemReader) throws ConfigException {
        List<String> items = new java.util.ArrayList<>();
        for (String item : text.split(",", -1)) {
            if (!item.isBlank()) {
                items.add(itemReader.read(item.strip()));
            }
        }
        return List.copyOf(items);
    }
}
