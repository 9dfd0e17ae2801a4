package io.journalq.codegen;

import java.util.List;
import java.util.Locale;

/**
 * One schema file.
 *
 * @param root the message's own fields
 * @param structs every struct inside it, at any depth
 * @param kind what the file describes
 * @param apiKey the API's number, or {@link #NO_API_KEY}
 * @param flexibleVersions in which lengths are compact and tagged fields exist
 * @param latestVersionUnstable whether the highest version may still change
 */
record MessageSchema(
        Struct root,
        List<Struct> structs,
        Kind kind,
        int apiKey,
        Versions flexibleVersions,
        boolean latestVersionUnstable) {
    static final int NO_API_KEY = -1;

    enum Kind {
        REQUEST,
        RESPONSE,
        HEADER,
        DATA
    }

    String name() {
        return root.name();
    }

    Versions versions() {
        return root.versions();
    }

    /** A nested class cannot be named as its enclosing one, so that the name decides. */
    boolean isRoot(Struct struct) {
        return struct.name().equals(name());
    }

    boolean belongsToApi() {
        return kind == Kind.REQUEST || kind == Kind.RESPONSE;
    }

    /** The API's name as the schemas write it: {@code Produce} for {@code ProduceRequest}. */
    String apiName() {
        return name().replaceFirst("(Request|Response)$", "");
    }

    /** The API's constant: {@code OFFSET_COMMIT} for {@code OffsetCommitRequest}. */
    String apiConstant() {
        return apiName().replaceAll("(?<=[a-z0-9])(?=[A-Z])", "_").toUpperCase(Locale.ROOT);
    }

    Struct struct(String structName) {
        return structs.stream()
                .filter(struct -> struct.name().equals(structName))
                .findFirst()
                .orElseThrow(() -> new SchemaException(name() + " has no struct " + structName));
    }

    /** The fewest bytes that a value of {@code struct} takes on the wire at {@code version}. */
    int minimumSizeBytes(Struct struct, int version) {
        boolean flexible = flexibleVersions.contains(version);
        int sizeBytes = flexible ? 1 : 0;
        for (FieldSchema field : struct.untaggedFields()) {
            if (field.versions().contains(version)) {
                sizeBytes += minimumSizeBytes(field, version);
            }
        }
        return sizeBytes;
    }

    private int minimumSizeBytes(FieldSchema field, int version) {
        FieldType type = field.type();
        boolean compact = field.flexibleVersions().contains(version);
        if (type.array()) {
            return compact ? 1 : Integer.BYTES;
        }
        if (type.isStruct()) {
            return field.nullableVersions().contains(version)
                    ? 1
                    : minimumSizeBytes(struct(type.structName()), version);
        }
        if (type.kind().fixedSizeBytes > 0) {
            return type.kind().fixedSizeBytes;
        }
        if (compact) {
            return 1;
        }
        return type.kind() == FieldType.Kind.STRING ? Short.BYTES : Integer.BYTES;
    }

    /**
     * A struct: the message itself or a part of it.
     *
     * @param name class name
     * @param versions in which it exists, cut to those of its message
     * @param fields those that exist in any of {@code versions}, in wire order
     * @param about the schema's description
     */
    record Struct(String name, Versions versions, List<FieldSchema> fields, String about) {
        List<FieldSchema> untaggedFields() {
            return fields.stream().filter(field -> !field.isTagged()).toList();
        }

        /** In the order of their tags, which is the order on the wire. */
        List<FieldSchema> taggedFields() {
            return fields.stream()
                    .filter(FieldSchema::isTagged)
                    .sorted((left, right) -> Integer.compare(left.tag(), right.tag()))
                    .toList();
        }
    }
}
