package io.journalq.codegen;

/** Writes the class of one schema file, with its structs as nested classes. */
final class MessageClass {
    private static final String RUNTIME = "io.journalq.common.protocol";

    private final MessageSchema message;
    private final String packageName;
    private final JavaSource source = new JavaSource();

    MessageClass(MessageSchema message, String packageName) {
        this.message = message;
        this.packageName = packageName;
    }

    String generate() {
        head();
        String parent = !message.belongsToApi() ? "Message" : isThrottled() ? "ThrottledMessage" : "ApiMessage";
        source.line("/**");
        source.line(" * %s, versions %d to %d. Not thread-safe. Lists may be immutable: set a new one to change one."
                .formatted(
                        message.name(),
                        message.versions().lowest(),
                        message.versions().highest()));
        source.line(" */");
        source.open("public final class " + message.name() + " implements " + parent);
        constants();
        structBody(message.root());
        for (MessageSchema.Struct struct : message.structs()) {
            source.blank().doc(struct.about().isEmpty() ? "A part of " + message.name() + "." : struct.about());
            source.open("public static final class " + struct.name());
            structBody(struct);
            source.close();
        }
        source.close();
        return source.toString();
    }

    private boolean isThrottled() {
        return message.root().fields().stream().anyMatch(field -> field.name().equals("throttleTimeMs"));
    }

    private void head() {
        source.line("// Generated from " + message.name() + ".json. Do not edit.");
        source.line("package " + packageName + ";").blank();
        for (String imported : new String[] {
            "io.journalq.common.id.Uuid",
            RUNTIME + ".ApiKey",
            RUNTIME + ".ApiMessage",
            RUNTIME + ".Message",
            RUNTIME + ".MessageReader",
            RUNTIME + ".MessageWriter",
            RUNTIME + ".RecordsData",
            RUNTIME + ".ThrottledMessage",
            RUNTIME + ".UnsupportedVersionException",
            "io.netty.buffer.ByteBuf",
            "io.netty.buffer.Unpooled",
            "java.util.List",
            "java.util.Objects"
        }) {
            source.line("import " + imported + ";");
        }
        source.blank();
    }

    private void constants() {
        source.line("public static final short LOWEST_VERSION = "
                + message.versions().lowest() + ";");
        source.line("public static final short HIGHEST_VERSION = "
                + message.versions().highest() + ";");
        source.blank();
        if (message.belongsToApi()) {
            source.line("@Override").open("public ApiKey apiKey()");
            source.line("return ApiKey." + message.apiConstant() + ";").close().blank();
        }
    }

    private void structBody(MessageSchema.Struct struct) {
        ValueMethods values = new ValueMethods(struct, source);
        values.fields();
        new ReadMethods(message, struct, source).generate();
        new WriteMethods(message, struct, source).generate();
        values.accessors();
        values.equalsAndHashCode();
        values.describe();
    }
}
