package io.journalq.codegen;

import java.util.Locale;

/**
 * The type of a field.
 *
 * @param kind the type itself, or that of the elements of an array
 * @param structName the struct's name when {@code kind} is {@link Kind#STRUCT}, else empty
 * @param array whether the field is an array
 */
record FieldType(Kind kind, String structName, boolean array) {
    private static final String ARRAY_PREFIX = "[]";

    /** What a value is, how Java holds it, and how many bytes it takes when that is fixed. */
    enum Kind {
        BOOL("boolean", "Boolean", "Boolean", 1),
        INT8("byte", "Byte", "Byte", 1),
        INT16("short", "Short", "Short", 2),
        UINT16("int", "Integer", "UnsignedShort", 2),
        INT32("int", "Integer", "Int", 4),
        UINT32("long", "Long", "UnsignedInt", 4),
        INT64("long", "Long", "Long", 8),
        FLOAT64("double", "Double", "Double", 8),
        UUID("Uuid", "Uuid", "Uuid", 16),
        STRING("String", "String", "String", 0),
        BYTES("ByteBuf", "ByteBuf", "Bytes", 0),
        RECORDS("RecordsData", "RecordsData", "Records", 0),
        STRUCT("", "", "", 0);

        final String javaName;
        final String boxedName;

        /** What stands after {@code read} and {@code write} in the names of the runtime's methods. */
        final String methodSuffix;

        /** Size on the wire, 0 when it varies. */
        final int fixedSizeBytes;

        Kind(String javaName, String boxedName, String methodSuffix, int fixedSizeBytes) {
            this.javaName = javaName;
            this.boxedName = boxedName;
            this.methodSuffix = methodSuffix;
            this.fixedSizeBytes = fixedSizeBytes;
        }

        boolean isPrimitive() {
            return fixedSizeBytes > 0 && this != UUID;
        }
    }

    static FieldType parse(String text) {
        boolean array = text.startsWith(ARRAY_PREFIX);
        String element = array ? text.substring(ARRAY_PREFIX.length()) : text;
        if (Character.isUpperCase(element.charAt(0))) {
            return new FieldType(Kind.STRUCT, element, array);
        }
        return new FieldType(Kind.valueOf(element.toUpperCase(Locale.ROOT)), "", array);
    }

    boolean isStruct() {
        return kind == Kind.STRUCT && !array;
    }

    boolean isPrimitive() {
        return kind.isPrimitive() && !array;
    }

    /** The Java type of one element, as a type argument. */
    String elementName() {
        return kind == Kind.STRUCT ? structName : kind.boxedName;
    }

    String javaName() {
        if (array) {
            return "List<" + elementName() + ">";
        }
        return kind == Kind.STRUCT ? structName : kind.javaName;
    }
}
