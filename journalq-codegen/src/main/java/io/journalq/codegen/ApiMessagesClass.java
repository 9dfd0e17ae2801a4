package io.journalq.codegen;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Writes the class {@code ApiMessages}, which reads the body of a request or response of any API. */
final class ApiMessagesClass {
    private final List<MessageSchema> messages;
    private final JavaSource source = new JavaSource();

    ApiMessagesClass(List<MessageSchema> messages) {
        this.messages = messages.stream()
                .filter(MessageSchema::belongsToApi)
                .sorted(Comparator.comparingInt(MessageSchema::apiKey))
                .toList();
    }

    String generate(String packageName, String apiKeyPackage) {
        source.line("// Generated from the message schemas. Do not edit.");
        source.line("package " + packageName + ";").blank();
        for (String imported : new String[] {
            "ApiKey", "ApiMessage", "BadFrameException", "MessageReader", "UnsupportedVersionException"
        }) {
            source.line("import " + apiKeyPackage + "." + imported + ";");
        }
        source.blank().doc("Reads the bodies of requests and responses. Stateless and thread-safe.");
        source.open("public final class ApiMessages");
        source.line("private ApiMessages() {}").blank();
        reader(MessageSchema.Kind.REQUEST, "Request");
        source.blank();
        reader(MessageSchema.Kind.RESPONSE, "Response");
        source.close();
        return source.toString();
    }

    private void reader(MessageSchema.Kind kind, String suffix) {
        source.line("/**");
        source.line(" * Reads the body of a " + suffix.toLowerCase(Locale.ROOT) + ".");
        source.line(" *");
        source.line(" * @throws BadFrameException if the bytes are not such a message");
        source.line(" * @throws UnsupportedVersionException if the schema lacks {@code version}");
        source.line(" */");
        source.open("public static ApiMessage read" + suffix + "(ApiKey key, MessageReader in, short version)");
        source.open("return switch (key)");
        for (MessageSchema message : messages) {
            if (message.kind() == kind) {
                source.line("case %s -> %s.read(in, version);".formatted(message.apiConstant(), message.name()));
            }
        }
        source.closeExpression().close();
    }
}
