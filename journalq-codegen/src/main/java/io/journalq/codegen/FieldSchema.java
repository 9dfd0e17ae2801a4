package io.journalq.codegen;

/**
 * One field of a struct, cut to the versions in which its struct exists.
 *
 * @param name camel-case Java name
 * @param type its type
 * @param versions in which it exists; never empty
 * @param nullableVersions in which it may be null
 * @param tag its tag number, or {@link #UNTAGGED}
 * @param flexibleVersions in which its own length is encoded compactly
 * @param ignorable whether a value that the written version lacks is silently dropped
 * @param defaultText the schema's default, empty when it gives none
 * @param about the schema's description
 */
record FieldSchema(
        String name,
        FieldType type,
        Versions versions,
        Versions nullableVersions,
        int tag,
        Versions flexibleVersions,
        boolean ignorable,
        String defaultText,
        String about) {
    static final int UNTAGGED = -1;

    boolean isTagged() {
        return tag != UNTAGGED;
    }

    boolean isNullable() {
        return !nullableVersions.isEmpty();
    }

    boolean defaultsToNull() {
        return defaultText.equals("null");
    }

    /** A struct that is never null is made when it is first asked for, so that an absent one costs nothing. */
    boolean isMadeOnDemand() {
        return type.isStruct() && !defaultsToNull();
    }

    /** The Java expression of the value before anything is set. */
    String defaultExpression() {
        if (defaultsToNull() || isMadeOnDemand()) {
            return "null";
        }
        if (type.array()) {
            return "List.of()";
        }
        return switch (type.kind()) {
            case BOOL -> defaultText.equals("true") ? "true" : "false";
            case INT8 -> "(byte) " + parenthesized(number());
            case INT16 -> "(short) " + parenthesized(number());
            case UINT16, INT32 -> Integer.toString((int) number());
            case UINT32, INT64 -> number() + "L";
            case FLOAT64 -> Double.toString(defaultText.isEmpty() ? 0.0 : Double.parseDouble(defaultText));
            case UUID -> "Uuid.ZERO";
            case STRING -> "\"" + defaultText + "\"";
            case BYTES -> "Unpooled.EMPTY_BUFFER";
            case RECORDS -> isNullable() ? "null" : "RecordsData.EMPTY";
            case STRUCT -> throw new IllegalStateException(name);
        };
    }

    /** The Java expression that is true when the field holds anything but its default. */
    String differsFromDefault() {
        String value = "this." + name;
        if (isMadeOnDemand()) {
            return value + " != null && !" + value + ".equals(new " + type.structName() + "())";
        }
        if (defaultExpression().equals("null")) {
            return value + " != null";
        }
        String orNull = isNullable() ? value + " == null || " : "";
        if (type.array()) {
            return orNull + "!" + value + ".isEmpty()";
        }
        return switch (type.kind()) {
            case BOOL -> defaultExpression().equals("true") ? "!" + value : value;
            case UUID -> "!" + value + ".equals(Uuid.ZERO)";
            case STRING -> "!" + defaultExpression() + ".equals(" + value + ")";
            case BYTES -> orNull + value + ".isReadable()";
            case RECORDS -> orNull + value + ".sizeBytes() != 0";
            default -> value + " != " + defaultExpression();
        };
    }

    private long number() {
        return defaultText.isEmpty() ? 0 : Long.decode(defaultText);
    }

    private static String parenthesized(long number) {
        return number < 0 ? "(" + number + ")" : Long.toString(number);
    }
}
