package io.journalq.codegen;

import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads one schema file. Fields that no valid version carries are left out. One use each. */
final class SchemaParser {
    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(JsonReadFeature.ALLOW_JAVA_COMMENTS).build();

    private final Map<String, JsonNode> commonStructs = new LinkedHashMap<>();
    private final Map<String, MessageSchema.Struct> structs = new LinkedHashMap<>();
    private final JsonNode document;
    private final Versions flexibleVersions;

    private SchemaParser(JsonNode document) {
        this.document = document;
        this.flexibleVersions = Versions.parse(document.path("flexibleVersions").asText("none"));
    }

    static MessageSchema parse(Path file) throws IOException {
        try {
            return new SchemaParser(MAPPER.readTree(Files.readString(file))).message();
        } catch (SchemaException | IllegalArgumentException e) {
            throw new IOException(file.getFileName() + ": " + e.getMessage(), e);
        }
    }

    private MessageSchema message() {
        Versions versions = Versions.parse(text(document, "validVersions"));
        for (JsonNode struct : document.path("commonStructs")) {
            commonStructs.put(text(struct, "name"), struct);
        }
        MessageSchema.Struct root = new MessageSchema.Struct(
                text(document, "name"), versions, fields(document.path("fields"), versions), "");
        return new MessageSchema(
                root,
                List.copyOf(structs.values()),
                MessageSchema.Kind.valueOf(text(document, "type").toUpperCase(Locale.ROOT)),
                document.path("apiKey").asInt(MessageSchema.NO_API_KEY),
                flexibleVersions,
                document.path("latestVersionUnstable").asBoolean(false));
    }

    private List<FieldSchema> fields(JsonNode nodes, Versions structVersions) {
        List<FieldSchema> fields = new ArrayList<>();
        for (JsonNode node : nodes) {
            Versions versions = Versions.parse(text(node, "versions")).intersect(structVersions);
            if (!versions.isEmpty()) {
                fields.add(field(node, versions));
            }
        }
        return List.copyOf(fields);
    }

    private FieldSchema field(JsonNode node, Versions versions) {
        FieldType type = FieldType.parse(text(node, "type"));
        String name = text(node, "name");
        if (type.kind() == FieldType.Kind.STRUCT) {
            addStruct(type.structName(), node, versions);
        }
        Versions flexible =
                node.has("flexibleVersions") ? Versions.parse(text(node, "flexibleVersions")) : flexibleVersions;
        Versions nullable = Versions.parse(node.path("nullableVersions").asText("none"));
        FieldSchema field = new FieldSchema(
                Character.toLowerCase(name.charAt(0)) + name.substring(1),
                type,
                versions,
                nullable.intersect(versions),
                node.has("tag") ? node.path("tag").asInt() : FieldSchema.UNTAGGED,
                flexible,
                node.path("ignorable").asBoolean(false),
                node.path("default").asText(""),
                node.path("about").asText(""));
        check(field, node);
        return field;
    }

    private static void check(FieldSchema field, JsonNode node) {
        if (field.type().isStruct() && field.isNullable() && !field.defaultsToNull()) {
            throw new SchemaException(field.name() + ": a struct that may be null must be null by default");
        }
        if (field.isTagged()) {
            Versions tagged = Versions.parse(text(node, "taggedVersions"));
            if (!tagged.intersect(field.versions()).equals(field.versions())) {
                throw new SchemaException(field.name() + ": must be tagged in every version that has it, or in none");
            }
            if (field.type().kind() == FieldType.Kind.RECORDS) {
                throw new SchemaException(field.name() + ": records cannot be tagged");
            }
        }
    }

    private void addStruct(String name, JsonNode node, Versions versions) {
        boolean common = !node.has("fields");
        if (structs.containsKey(name)) {
            if (!common) {
                throw new SchemaException("two structs are named " + name);
            }
            return;
        }
        JsonNode definition = common ? commonStructs.get(name) : node;
        if (definition == null) {
            throw new SchemaException("no struct is named " + name);
        }
        // A common struct may be used by several fields: it lives in every version of the message that it allows.
        Versions structVersions = common
                ? Versions.parse(definition.path("versions").asText("0+"))
                        .intersect(Versions.parse(text(document, "validVersions")))
                : versions;
        structs.put(name, new MessageSchema.Struct(name, structVersions, List.of(), ""));
        structs.put(
                name,
                new MessageSchema.Struct(
                        name,
                        structVersions,
                        fields(definition.path("fields"), structVersions),
                        definition.path("about").asText("")));
    }

    private static String text(JsonNode node, String name) {
        if (!node.has(name)) {
            throw new SchemaException(
                    "'" + name + "' is missing in " + node.path("name").asText("the schema"));
        }
        return node.path(name).asText();
    }
}
