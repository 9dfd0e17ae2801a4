package io.journalq.server.gateway.rest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeConfigsRequest;
import io.journalq.common.protocol.message.DescribeConfigsResponse;
import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsResourceResult;
import io.journalq.common.protocol.message.DescribeConfigsResponse.DescribeConfigsSynonym;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest;
import io.journalq.common.protocol.message.IncrementalAlterConfigsRequest.AlterableConfig;
import io.journalq.common.protocol.message.IncrementalAlterConfigsResponse;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigKey;
import io.journalq.server.config.ConfigKeys;
import io.journalq.server.config.ConfigUnit;
import io.journalq.server.config.GroupSettings;
import io.journalq.server.config.TopicSettings;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.gateway.rest.ListQuery.Field;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * {@code /v1/…/configs}: the configurations of topics, brokers and groups, with their documentation. Immutable.
 *
 * @param type of the resource, by its number in the protocol
 * @param own the source of values that the resource itself sets, by its number in the protocol
 * @param path of the resource, with its name in braces
 * @param parameter the name of the resource in the path
 * @param keys the settings of the resource
 * @param example a change of a setting
 */
record ConfigRoutes(byte type, byte own, String path, String parameter, ConfigKeys keys, String example) {
    private static final byte BROKER = 4;

    private static final byte SET = 0;
    private static final byte DELETE = 1;
    private static final byte DEFAULT = 5;

    /** Upper bound of the size of a setting in a response, without its texts. */
    private static final int SETTING_BYTES = 250;

    private static final ListQuery.Shape<DescribeConfigsResourceResult> SETTINGS = new ListQuery.Shape<>(
            DescribeConfigsResourceResult::name,
            List.of(Field.text("name", DescribeConfigsResourceResult::name)),
            setting -> SETTING_BYTES
                    + setting.name().length()
                    + 3 * length(setting.value())
                    + length(setting.documentation()));

    private static int length(String text) {
        return text == null ? 0 : text.length();
    }

    static List<Route> routes() {
        List<ConfigRoutes> kinds = List.of(
                new ConfigRoutes(
                        (byte) 2,
                        (byte) 1,
                        "/v1/topics/{topic}",
                        "topic",
                        TopicSettings.ALL,
                        "{\"set\":{\"retention.ms\":\"30d\"}}"),
                new ConfigRoutes(
                        BROKER,
                        (byte) 2,
                        "/v1/brokers/{broker}",
                        "broker",
                        BrokerSettings.ALL,
                        "{\"set\":{\"retention.ms\":\"30d\"}}"),
                new ConfigRoutes(
                        (byte) 32,
                        (byte) 8,
                        "/v1/groups/{group}",
                        "group",
                        GroupSettings.ALL,
                        "{\"set\":{\"consumer.session.timeout.ms\":\"50s\"}}"));
        List<Route> routes = new ArrayList<>();
        for (ConfigRoutes kind : kinds) {
            routes.add(RestRoute.get(
                    kind.path() + "/configs",
                    ListQuery.description("lists settings, with their documentation"),
                    kind::list));
            routes.add(RestRoute.patch(
                    kind.path() + "/configs",
                    RouteDescription.of("changes settings, with execute"),
                    kind.example(),
                    kind::alter));
        }
        return routes;
    }

    private void list(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        // Kafka's names for the same settings are left out.
        describe(
                request,
                settings -> request.respond(
                        query.page(
                                settings.stream()
                                        .filter(setting -> keys.find(setting.name()) != null)
                                        .toList(),
                                SETTINGS),
                        this::write));
    }

    /** Describes settings under all their names, also those of Kafka. */
    private void describe(RestRequest request, Consumer<List<DescribeConfigsResourceResult>> next) {
        String name = request.path(parameter);
        DescribeConfigsRequest message = new DescribeConfigsRequest()
                .setIncludeDocumentation(true)
                .setIncludeSynonyms(true)
                .setResources(List.of(new DescribeConfigsRequest.DescribeConfigsResource()
                        .setResourceType(type)
                        .setResourceName(name)
                        .setConfigurationKeys(null)));
        request.call(ApiKey.DESCRIBE_CONFIGS, 4, message, DescribeConfigsResponse.class, response -> {
            DescribeConfigsResponse.DescribeConfigsResult result =
                    response.results().get(0);
            ProtocolErrors.check(result.errorCode(), result.errorMessage(), parameter + " " + name);
            next.accept(result.configs());
        });
    }

    private void write(JsonGenerator json, DescribeConfigsResourceResult setting) throws IOException {
        ConfigKey<?> key = keys.find(setting.name());
        json.writeStringField("name", setting.name());
        json.writeStringField("value", setting.value());
        json.writeStringField("source", source(setting.configSource()));
        DescribeConfigsSynonym standard = synonym(setting, synonym -> synonym.source() == DEFAULT);
        if (standard != null) {
            json.writeStringField("default", standard.value());
        }
        json.writeStringField("inherited", inherited(setting));
        json.writeStringField("type", key.type().name().toLowerCase(Locale.ROOT));
        if (key.unit() != ConfigUnit.NONE) {
            json.writeStringField("unit", key.unit() == ConfigUnit.BYTES ? "bytes" : "ms");
        }
        json.writeBooleanField("readOnly", setting.readOnly());
        if (setting.isSensitive()) {
            json.writeBooleanField("sensitive", true);
        }
        json.writeStringField("documentation", setting.documentation());
    }

    /** The value that would apply if the resource did not set its own. */
    private String inherited(DescribeConfigsResourceResult setting) {
        DescribeConfigsSynonym next =
                setting.configSource() == own ? synonym(setting, synonym -> synonym.source() != own) : null;
        return next == null ? setting.value() : next.value();
    }

    /** The first one, preferably of the same name: the broker's settings for groups have other names. */
    private static DescribeConfigsSynonym synonym(
            DescribeConfigsResourceResult setting, Predicate<DescribeConfigsSynonym> wanted) {
        List<DescribeConfigsSynonym> found =
                setting.synonyms().stream().filter(wanted).toList();
        return found.stream()
                .filter(synonym -> synonym.name().equals(setting.name()))
                .findFirst()
                .or(() -> found.stream().findFirst())
                .orElse(null);
    }

    private static String source(byte source) {
        return switch (source) {
            case 1 -> "topic";
            case 2 -> "broker";
            case 3 -> "every-broker";
            case 4 -> "file";
            case 7 -> "client-metrics";
            case 8 -> "group";
            default -> "default";
        };
    }

    private void alter(RestRequest request) {
        JsonObject body = request.body();
        body.checkMembers(RestRequest.orExecute("set", "reset"));
        JsonObject set = body.object("set");
        List<AlterableConfig> changes = new ArrayList<>();
        for (String name : set.names()) {
            changes.add(
                    new AlterableConfig().setName(name).setConfigOperation(SET).setValue(set.scalar(name)));
        }
        for (String name : body.list("reset", String.class)) {
            changes.add(new AlterableConfig()
                    .setName(name)
                    .setConfigOperation(DELETE)
                    .setValue(null));
        }
        if (changes.isEmpty()) {
            throw JsonObject.invalid(
                    "it changes nothing", "send {\"set\": {\"name\": \"value\"}} or {\"reset\": [\"name\"]}");
        }
        String name = request.path(parameter);
        IncrementalAlterConfigsRequest message = new IncrementalAlterConfigsRequest()
                .setValidateOnly(!request.executes())
                .setResources(List.of(new IncrementalAlterConfigsRequest.AlterConfigsResource()
                        .setResourceType(type)
                        .setResourceName(name)
                        .setConfigs(changes)));
        describe(request, before -> {
            checkResets(changes, before, name);
            request.call(
                    ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, message, IncrementalAlterConfigsResponse.class, response -> {
                        IncrementalAlterConfigsResponse.AlterConfigsResourceResponse result =
                                response.responses().get(0);
                        ProtocolErrors.check(result.errorCode(), result.errorMessage(), parameter + " " + name);
                        respond(request, changes, before);
                    });
        });
    }

    /** The API ignores a name that does not exist, as Kafka does: a misspelt setting would stay without a word. */
    private void checkResets(
            List<AlterableConfig> changes, List<DescribeConfigsResourceResult> settings, String resource) {
        for (AlterableConfig change : changes) {
            // Listeners of a broker have settings of their own.
            if (type != BROKER
                    && change.configOperation() == DELETE
                    && settings.stream().noneMatch(setting -> setting.name().equals(change.name()))) {
                throw ProtocolErrors.problem(
                                ErrorCode.INVALID_CONFIG,
                                "there is no setting " + change.name(),
                                parameter + " " + resource)
                        .exception();
            }
        }
    }

    private void respond(
            RestRequest request, List<AlterableConfig> changes, List<DescribeConfigsResourceResult> before) {
        Map<String, DescribeConfigsResourceResult> byName = new LinkedHashMap<>();
        before.forEach(setting -> byName.put(setting.name(), setting));
        request.respond(json -> {
            json.writeArrayFieldStart("changes");
            for (AlterableConfig change : changes) {
                DescribeConfigsResourceResult old = byName.get(change.name());
                ConfigKey<?> key = keys.find(change.name());
                String to = change.value();
                if (to == null) {
                    to = old == null ? null : inherited(old);
                } else if (key != null) {
                    to = key.canonical(to);
                }
                json.writeStartObject();
                json.writeStringField("name", change.name());
                json.writeStringField("from", old == null ? null : old.value());
                json.writeStringField("to", to);
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeBooleanField("executed", request.executes());
        });
    }
}
