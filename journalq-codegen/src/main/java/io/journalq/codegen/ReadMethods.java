package io.journalq.codegen;

import io.journalq.codegen.FieldType.Kind;
import java.util.List;

/** Writes the {@code read} method of one struct. */
final class ReadMethods {
    private final MessageSchema message;
    private final MessageSchema.Struct struct;
    private final JavaSource source;

    ReadMethods(MessageSchema message, MessageSchema.Struct struct, JavaSource source) {
        this.message = message;
        this.struct = struct;
        this.source = source;
    }

    void generate() {
        String name = struct.name();
        source.open("public static " + name + " read(MessageReader in, short version)");
        if (message.isRoot(struct)) {
            source.line("UnsupportedVersionException.check(\"%s\", version, LOWEST_VERSION, HIGHEST_VERSION);"
                    .formatted(name));
        }
        Condition flexible = message.flexibleVersions().within(struct.versions());
        source.line("%s message = new %s();".formatted(name, name));
        for (FieldSchema field : struct.untaggedFields()) {
            source.when(field.versions().within(struct.versions()), () -> readField(field));
        }
        source.when(flexible, this::readTags);
        source.line("return message;").close().blank();
        minimumSize();
    }

    private void readField(FieldSchema field) {
        Versions here = field.versions();
        if (field.type().array()) {
            readArray(field, here, field.nullableVersions().within(here));
        } else {
            source.line("message.%s = %s;".formatted(field.name(), value(field, here)));
        }
    }

    private String value(FieldSchema field, Versions here) {
        Condition nullable = field.nullableVersions().within(here);
        Kind kind = field.type().kind();
        if (kind == Kind.STRUCT) {
            String read = field.type().structName() + ".read(in, version)";
            String readNullable = "in.readPresent() ? " + read + " : null";
            if (nullable.isAlways()) {
                return readNullable;
            }
            return nullable.choose("(" + readNullable + ")", read);
        }
        if (kind.fixedSizeBytes > 0) {
            return "in.read" + kind.methodSuffix + "()";
        }
        String arguments = "(" + field.flexibleVersions().within(here) + ")";
        return nullable.choose(
                "in.readNullable" + kind.methodSuffix + arguments, "in.read" + kind.methodSuffix + arguments);
    }

    private void readArray(FieldSchema field, Versions here, Condition nullable) {
        String arguments = "(" + field.flexibleVersions().within(here) + ", " + elementMinimumSize(field, here) + ")";
        String count = nullable.choose("in.readNullableCount" + arguments, "in.readCount" + arguments);
        String element = field.type().elementName();
        source.openBare();
        source.line("int count = " + count + ";");
        source.line("List<%s> list = MessageReader.newList(count);".formatted(element));
        source.open("for (int i = 0; i < count; i++)");
        source.line("list.add(" + elementValue(field, here) + ");");
        source.close();
        source.line("message.%s = list;".formatted(field.name()));
        source.close();
    }

    private static String elementValue(FieldSchema field, Versions here) {
        Kind kind = field.type().kind();
        if (kind == Kind.STRUCT) {
            return field.type().structName() + ".read(in, version)";
        }
        String arguments = kind.fixedSizeBytes > 0
                ? ""
                : field.flexibleVersions().within(here).expression();
        return "in.read" + kind.methodSuffix + "(" + arguments + ")";
    }

    private String elementMinimumSize(FieldSchema field, Versions here) {
        Kind kind = field.type().kind();
        if (kind == Kind.STRUCT) {
            MessageSchema.Struct element = message.struct(field.type().structName());
            Versions both = element.versions().intersect(here);
            int first = message.minimumSizeBytes(element, both.lowest());
            for (int version = both.lowest(); version <= both.highest(); version++) {
                int sizeBytes = message.minimumSizeBytes(element, version);
                if (sizeBytes == 0) {
                    throw new SchemaException(element.name() + ": an element without bytes cannot be bounded");
                }
                if (sizeBytes != first) {
                    return element.name() + ".minimumSizeBytes(version)";
                }
            }
            return Integer.toString(first);
        }
        if (kind.fixedSizeBytes > 0) {
            return Integer.toString(kind.fixedSizeBytes);
        }
        return field.flexibleVersions().within(here).choose("1", kind == Kind.STRING ? "2" : "4");
    }

    private void readTags() {
        Versions here = message.flexibleVersions().intersect(struct.versions());
        List<FieldSchema> tagged = struct.taggedFields();
        if (tagged.isEmpty()) {
            source.line("in.skipTags();");
            return;
        }
        source.line("int tagCount = in.readTagCount();");
        source.open("for (int left = tagCount; left > 0; left--)");
        source.line("int tag = in.readTag();");
        source.line("int end = in.readTagEnd();");
        source.open("switch (tag)");
        for (FieldSchema field : tagged) {
            readTagged(field, here);
        }
        source.line("default -> in.skipTo(end);");
        source.close();
        source.line("in.endTag(end);");
        source.close();
    }

    private void readTagged(FieldSchema field, Versions flexibleHere) {
        source.open("case " + field.tag() + " ->");
        Condition present = field.versions().within(flexibleHere);
        if (present.isAlways()) {
            readField(field);
        } else {
            source.open("if (" + present + ")");
            readField(field);
            source.next("else").line("in.skipTo(end);").close();
        }
        source.close();
    }

    /** Only where an array holds this struct and its smallest size depends on the version. */
    private void minimumSize() {
        if (message.isRoot(struct)) {
            return;
        }
        Versions versions = struct.versions();
        source.doc("The fewest bytes that one takes on the wire.");
        source.open("static int minimumSizeBytes(short version)");
        int current = message.minimumSizeBytes(struct, versions.lowest());
        for (int version = versions.lowest() + 1; version <= versions.highest(); version++) {
            int next = message.minimumSizeBytes(struct, version);
            if (next != current) {
                source.open("if (version < " + version + ")");
                source.line("return " + current + ";").close();
                current = next;
            }
        }
        source.line("return " + current + ";").close().blank();
    }
}
