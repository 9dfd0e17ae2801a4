package io.journalq.codegen;

import io.journalq.codegen.FieldType.Kind;
import java.util.List;

/** Writes the {@code write} method of one struct. */
final class WriteMethods {
    private final MessageSchema message;
    private final MessageSchema.Struct struct;
    private final JavaSource source;

    WriteMethods(MessageSchema message, MessageSchema.Struct struct, JavaSource source) {
        this.message = message;
        this.struct = struct;
        this.source = source;
    }

    void generate() {
        boolean root = message.isRoot(struct);
        if (root) {
            source.line("@Override");
        }
        source.open("public void write(MessageWriter out, short version)");
        if (root) {
            source.line("UnsupportedVersionException.check(\"%s\", version, LOWEST_VERSION, HIGHEST_VERSION);"
                    .formatted(struct.name()));
        }
        for (FieldSchema field : struct.untaggedFields()) {
            Condition present = field.versions().within(struct.versions());
            writeOrRefuse(field, present, () -> writeField(field));
        }
        for (FieldSchema field : struct.taggedFields()) {
            Condition present = field.versions().within(struct.versions());
            writeOrRefuse(field, present, () -> {});
        }
        source.when(message.flexibleVersions().within(struct.versions()), this::writeTags);
        source.close().blank();
    }

    private void writeOrRefuse(FieldSchema field, Condition present, Runnable write) {
        if (present.isAlways()) {
            write.run();
            return;
        }
        if (field.ignorable()) {
            if (!field.isTagged()) {
                source.when(present, write);
            }
            return;
        }
        if (field.isTagged()) {
            source.open("if (!(" + present + ") && (" + field.differsFromDefault() + "))");
        } else {
            source.open("if (" + present + ")");
            write.run();
            source.next("else if (" + field.differsFromDefault() + ")");
        }
        source.line("throw UnsupportedVersionException.missingField(\"%s\", \"%s\", version);"
                        .formatted(struct.name(), field.name()))
                .close();
    }

    private void writeField(FieldSchema field) {
        Versions here = field.versions();
        Condition nullable = field.nullableVersions().within(here);
        if (field.isNullable() && !nullable.isAlways()) {
            source.open("if (this.%s == null && !(%s))".formatted(field.name(), nullable));
            source.line("throw UnsupportedVersionException.nullField(\"%s\", \"%s\", version);"
                            .formatted(struct.name(), field.name()))
                    .close();
        }
        Condition flexible = field.flexibleVersions().within(here);
        FieldType type = field.type();
        if (type.array()) {
            writeArray(field, flexible);
        } else if (type.kind() == Kind.STRUCT) {
            writeStruct(field, nullable);
        } else {
            source.line(writeValue(type.kind(), "this." + field.name(), flexible));
        }
    }

    private void writeStruct(FieldSchema field, Condition nullable) {
        if (!field.isNullable()) {
            source.line(field.name() + "().write(out, version);");
            return;
        }
        source.open("if (this." + field.name() + " == null)");
        source.line("out.writePresent(false);");
        source.next("else");
        source.when(nullable, () -> source.line("out.writePresent(true);"));
        source.line("this." + field.name() + ".write(out, version);");
        source.close();
    }

    private void writeArray(FieldSchema field, Condition flexible) {
        String list = "this." + field.name();
        if (field.isNullable()) {
            source.open("if (" + list + " == null)");
            source.line("out.writeNullCount(" + flexible + ");");
            source.next("else");
        }
        source.line("out.writeCount(%s.size(), %s);".formatted(list, flexible));
        source.open("for (%s element : %s)".formatted(field.type().elementName(), list));
        Kind kind = field.type().kind();
        source.line(kind == Kind.STRUCT ? "element.write(out, version);" : writeValue(kind, "element", flexible));
        source.close();
        if (field.isNullable()) {
            source.close();
        }
    }

    private static String writeValue(Kind kind, String value, Condition flexible) {
        return kind.fixedSizeBytes > 0
                ? "out.write%s(%s);".formatted(kind.methodSuffix, value)
                : "out.write%s(%s, %s);".formatted(kind.methodSuffix, value, flexible);
    }

    private void writeTags() {
        List<FieldSchema> tagged = struct.taggedFields();
        if (tagged.isEmpty()) {
            source.line("out.writeUnsignedVarint(0);");
            return;
        }
        source.line("int tagCount = 0;");
        for (FieldSchema field : tagged) {
            source.open("if (" + writtenWhen(field) + ")");
            source.line("tagCount++;").close();
        }
        source.line("out.writeUnsignedVarint(tagCount);");
        for (FieldSchema field : tagged) {
            source.open("if (" + writtenWhen(field) + ")");
            source.line("int mark = out.beginTag(" + field.tag() + ");");
            writeField(field);
            source.line("out.endTag(mark);").close();
        }
    }

    private String writtenWhen(FieldSchema field) {
        Versions here = message.flexibleVersions().intersect(struct.versions());
        Condition present = field.versions().within(here);
        String differs = field.differsFromDefault();
        return present.isAlways() ? differs : "(" + present + ") && (" + differs + ")";
    }
}
