package io.journalq.codegen;

import java.util.Comparator;
import java.util.List;

/** Writes the enum {@code ApiKey} of all APIs, with their versions. Knows none of the message classes. */
final class ApiKeyEnum {
    private final List<MessageSchema> requests;
    private final JavaSource source = new JavaSource();

    ApiKeyEnum(List<MessageSchema> messages) {
        this.requests = messages.stream()
                .filter(message -> message.kind() == MessageSchema.Kind.REQUEST)
                .sorted(Comparator.comparingInt(MessageSchema::apiKey))
                .toList();
    }

    String generate(String packageName) {
        source.line("// Generated from the message schemas. Do not edit.");
        source.line("package " + packageName + ";").blank();
        source.line("/**");
        source.line(" * The APIs of the protocol, with their numbers in request headers. Immutable and thread-safe.");
        source.line(" *");
        source.line(" * <p>APIs without a valid version are left out. One of them is ControlledShutdown, whose");
        source.line(" * version 0 was the only user of request header version 0.");
        source.line(" */");
        source.open("public enum ApiKey");
        constants();
        members();
        factories();
        source.close();
        return source.toString();
    }

    private void constants() {
        for (int i = 0; i < requests.size(); i++) {
            MessageSchema request = requests.get(i);
            Versions flexible = request.flexibleVersions();
            source.line("%s(%d, \"%s\", %d, %d, %s, %s)%s"
                    .formatted(
                            request.apiConstant(),
                            request.apiKey(),
                            request.apiName(),
                            request.versions().lowest(),
                            request.versions().highest(),
                            flexible.isEmpty() ? "Short.MAX_VALUE + 1" : Integer.toString(flexible.lowest()),
                            request.latestVersionUnstable(),
                            i + 1 < requests.size() ? "," : ";"));
        }
        source.blank();
    }

    private void members() {
        source.line("private static final ApiKey[] BY_ID = byId();").blank();
        source.line("private final short id;");
        source.line("private final String apiName;");
        source.line("private final short lowestVersion;");
        source.line("private final short highestVersion;");
        source.line("private final int lowestFlexibleVersion;");
        source.line("private final boolean latestVersionUnstable;").blank();
        source.open("ApiKey(int id, String apiName, int lowestVersion, int highestVersion,"
                + " int lowestFlexibleVersion, boolean latestVersionUnstable)");
        source.line("this.id = (short) id;");
        source.line("this.apiName = apiName;");
        source.line("this.lowestVersion = (short) lowestVersion;");
        source.line("this.highestVersion = (short) highestVersion;");
        source.line("this.lowestFlexibleVersion = lowestFlexibleVersion;");
        source.line("this.latestVersionUnstable = latestVersionUnstable;")
                .close()
                .blank();
        getter("The number on the wire.", "short id()", "id");
        getter("The name as the protocol writes it: {@code Produce}.", "String apiName()", "apiName");
        getter("Lowest version in the schema.", "short lowestVersion()", "lowestVersion");
        getter("Highest version in the schema, unstable or not.", "short highestVersion()", "highestVersion");
        getter(
                "Whether the highest version may still change.",
                "boolean latestVersionUnstable()",
                "latestVersionUnstable");
        getter(
                "Whether the schema has this version.",
                "boolean hasVersion(int version)",
                "version >= lowestVersion && version <= highestVersion");
        getter(
                "Whether lengths are compact and tagged fields exist.",
                "boolean isFlexible(short version)",
                "version >= lowestFlexibleVersion");
        getter(
                "Version of the header of a request of this version: 2 when flexible, else 1.",
                "short requestHeaderVersion(short apiVersion)",
                "(short) (isFlexible(apiVersion) ? 2 : 1)");
        getter(
                "Version of the header of a response of this version: 1 when flexible, else 0. For ApiVersions it is"
                        + " always 0, so that a client that sent a version unknown here can read the response (KIP-511).",
                "short responseHeaderVersion(short apiVersion)",
                "(short) (this != API_VERSIONS && isFlexible(apiVersion) ? 1 : 0)");
    }

    private void getter(String about, String signature, String expression) {
        source.line("/** " + about + " */").open("public " + signature);
        source.line("return " + expression + ";").close().blank();
    }

    private void factories() {
        source.line("/** The API of a number on the wire, null when there is none. */");
        source.open("public static ApiKey of(short id)");
        source.line("return id >= 0 && id < BY_ID.length ? BY_ID[id] : null;")
                .close()
                .blank();
        source.open("private static ApiKey[] byId()");
        source.line("ApiKey[] keys = values();");
        source.line("ApiKey[] table = new ApiKey[keys[keys.length - 1].id + 1];");
        source.open("for (ApiKey key : keys)").line("table[key.id] = key;").close();
        source.line("return table;").close();
    }
}
