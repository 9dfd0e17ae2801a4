package io.journalq.codegen;

import io.journalq.codegen.FieldType.Kind;
import java.util.List;

/** Writes the fields, accessors, {@code equals}, {@code hashCode} and {@code toString} of one struct. */
final class ValueMethods {
    private final MessageSchema.Struct struct;
    private final JavaSource source;

    ValueMethods(MessageSchema.Struct struct, JavaSource source) {
        this.struct = struct;
        this.source = source;
    }

    void fields() {
        for (FieldSchema field : struct.fields()) {
            source.line(
                    "private %s %s = %s;".formatted(field.type().javaName(), field.name(), field.defaultExpression()));
        }
        source.blank();
    }

    void accessors() {
        for (FieldSchema field : struct.fields()) {
            getter(field);
            setter(field);
        }
    }

    private void getter(FieldSchema field) {
        String type = field.type().javaName();
        source.doc(field.about()).open("public " + type + " " + field.name() + "()");
        if (field.isMadeOnDemand()) {
            source.open("if (this." + field.name() + " == null)");
            source.line("this.%s = new %s();".formatted(field.name(), type)).close();
        }
        source.line("return this." + field.name() + ";").close().blank();
    }

    private void setter(FieldSchema field) {
        String name = field.name();
        String setter = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        source.doc(field.about());
        source.open("public %s %s(%s %s)"
                .formatted(struct.name(), setter, field.type().javaName(), name));
        boolean refusesNull = !field.type().isPrimitive() && !field.isNullable() && !field.defaultsToNull();
        source.line(
                refusesNull
                        ? "this.%s = Objects.requireNonNull(%s, \"%s\");".formatted(name, name, name)
                        : "this.%s = %s;".formatted(name, name));
        source.line("return this;").close().blank();
    }

    void equalsAndHashCode() {
        List<FieldSchema> fields = struct.fields();
        source.line("@Override").open("public boolean equals(Object other)");
        source.open("if (this == other)").line("return true;").close();
        if (fields.isEmpty()) {
            source.line("return other instanceof " + struct.name() + ";")
                    .close()
                    .blank();
        } else {
            source.open("if (!(other instanceof " + struct.name() + " that))")
                    .line("return false;")
                    .close();
            source.line("return "
                            + String.join(
                                    " && ",
                                    fields.stream().map(ValueMethods::equal).toList()) + ";")
                    .close()
                    .blank();
        }
        source.line("@Override").open("public int hashCode()");
        source.line("int hash = 1;");
        for (FieldSchema field : fields) {
            source.line("hash = 31 * hash + " + hash(field) + ";");
        }
        source.line("return hash;").close().blank();
    }

    private static String equal(FieldSchema field) {
        String name = field.name();
        if (field.isMadeOnDemand()) {
            return name + "().equals(that." + name + "())";
        }
        if (!field.type().isPrimitive()) {
            return "Objects.equals(this.%s, that.%s)".formatted(name, name);
        }
        return field.type().kind() == Kind.FLOAT64
                ? "Double.compare(this.%s, that.%s) == 0".formatted(name, name)
                : "this.%s == that.%s".formatted(name, name);
    }

    private static String hash(FieldSchema field) {
        if (field.isMadeOnDemand()) {
            return field.name() + "().hashCode()";
        }
        return field.type().isPrimitive()
                ? field.type().kind().boxedName + ".hashCode(this." + field.name() + ")"
                : "Objects.hashCode(this." + field.name() + ")";
    }

    void describe() {
        source.line("@Override").open("public String toString()");
        StringBuilder text = new StringBuilder("return \"" + struct.name() + "(");
        String separator = "";
        for (FieldSchema field : struct.fields()) {
            String value = field.isMadeOnDemand() ? field.name() + "()" : "this." + field.name();
            text.append(separator)
                    .append(field.name())
                    .append("=\" + ")
                    .append(value)
                    .append(" + \"");
            separator = ", ";
        }
        source.line(text + ")\";").close();
    }
}
