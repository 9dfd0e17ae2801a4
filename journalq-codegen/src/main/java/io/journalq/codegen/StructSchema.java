package io.journalq.codegen;

import java.util.List;

/**
 * A struct: the message itself or a part of it.
 *
 * @param name class name
 * @param versions in which it exists, cut to those of its message
 * @param fields those that exist in any of {@code versions}, in wire order
 * @param about the schema's description
 */
record StructSchema(String name, Versions versions, List<FieldSchema> fields, String about) {
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
