package io.journalq.server.gateway.rest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterClientQuotasRequest;
import io.journalq.common.protocol.message.AlterClientQuotasResponse;
import io.journalq.common.protocol.message.DescribeClientQuotasRequest;
import io.journalq.common.protocol.message.DescribeClientQuotasResponse;
import io.journalq.common.protocol.message.DescribeClientQuotasResponse.EntryData;
import io.journalq.server.gateway.http.JsonObject;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.gateway.rest.ListQuery.Field;
import io.journalq.server.metadata.QuotaKeys;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * {@code /v1/quotas}: the limits of users, client ids and addresses. An entity has a {@code user}, a {@code clientId}, or
 * both, or an {@code ip}. The name {@code null} stands for all that have no limit of their own. Stateless.
 */
final class QuotaRoutes {
    private static final int ENTRY_BYTES = 300;

    private static final ListQuery.Shape<EntryData> QUOTAS = new ListQuery.Shape<>(
            QuotaRoutes::id,
            QuotaRoutes::name,
            List.of(Field.text("name", QuotaRoutes::name)),
            entry -> ENTRY_BYTES + 2 * name(entry).length());

    private QuotaRoutes() {}

    static List<Route> routes() {
        return List.of(
                RestRoute.get("/v1/quotas", ListQuery.description("lists quotas"), QuotaRoutes::list),
                RestRoute.patch(
                        "/v1/quotas",
                        RouteDescription.of("changes the quotas of a user, a client id or an IP address, with execute"),
                        "{\"entity\":{\"clientId\":\"reports\"},\"set\":{\"consumer_byte_rate\":1000000}}",
                        QuotaRoutes::alter));
    }

    private static String name(EntryData entry) {
        return entry.entity().stream()
                .map(part -> part.entityType() + "=" + part.entityName())
                .sorted()
                .collect(Collectors.joining(","));
    }

    /** Unlike the name, it differs for each entity: a user can be called null, too. */
    private static String id(EntryData entry) {
        return entry.entity().stream()
                .map(part -> part.entityType()
                        + (part.entityName() == null
                                ? ""
                                : "=" + part.entityName().length() + "=" + part.entityName()))
                .sorted()
                .collect(Collectors.joining(","));
    }

    private static String member(String entityType) {
        return entityType.equals("client-id") ? "clientId" : entityType;
    }

    private static void list(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        DescribeClientQuotasRequest message = new DescribeClientQuotasRequest().setComponents(List.of());
        request.call(ApiKey.DESCRIBE_CLIENT_QUOTAS, 1, message, DescribeClientQuotasResponse.class, response -> {
            ProtocolErrors.check(response.errorCode(), response.errorMessage(), "quotas");
            request.respond(query.page(response.entries(), QUOTAS), QuotaRoutes::write);
        });
    }

    private static void write(JsonGenerator json, EntryData entry) throws IOException {
        json.writeObjectFieldStart("entity");
        for (DescribeClientQuotasResponse.EntityData part : entry.entity()) {
            json.writeStringField(member(part.entityType()), part.entityName());
        }
        json.writeEndObject();
        json.writeObjectFieldStart("limits");
        for (DescribeClientQuotasResponse.ValueData value : entry.values()) {
            json.writeNumberField(value.key(), value.value());
        }
        json.writeEndObject();
    }

    private static void alter(RestRequest request) {
        JsonObject body = request.body();
        body.checkMembers(RestRequest.orExecute("entity", "set", "reset"));
        JsonObject entity = body.object("entity");
        entity.checkMembers(List.of("user", "clientId", "ip"));
        List<AlterClientQuotasRequest.EntityData> parts = new ArrayList<>();
        for (String name : entity.names()) {
            parts.add(new AlterClientQuotasRequest.EntityData()
                    .setEntityType(name.equals("clientId") ? "client-id" : name)
                    .setEntityName(entity.text(name)));
        }
        List<AlterClientQuotasRequest.OpData> operations = new ArrayList<>();
        JsonObject set = body.object("set");
        for (String key : set.names()) {
            Double limit = set.fraction(key);
            if (limit == null) {
                throw JsonObject.invalid("\"" + key + "\" has no value", "use \"reset\" to remove a limit");
            }
            operations.add(new AlterClientQuotasRequest.OpData().setKey(key).setValue(limit));
        }
        for (String key : body.list("reset", String.class)) {
            if (!QuotaKeys.exists(key)) {
                // The API ignores it, as Kafka does: the limit that was meant would stay without a word.
                throw ProtocolErrors.problem(ErrorCode.INVALID_REQUEST, "there is no limit " + key, "quota")
                        .exception();
            }
            operations.add(new AlterClientQuotasRequest.OpData().setKey(key).setRemove(true));
        }
        if (operations.isEmpty()) {
            throw JsonObject.invalid(
                    "it changes nothing",
                    "send {\"entity\": {\"user\": \"name\"}, \"set\": {\"producer_byte_rate\": 1000000}}");
        }
        AlterClientQuotasRequest message = new AlterClientQuotasRequest()
                .setValidateOnly(!request.executes())
                .setEntries(List.of(new AlterClientQuotasRequest.EntryData()
                        .setEntity(parts)
                        .setOps(operations)));
        request.call(ApiKey.ALTER_CLIENT_QUOTAS, 1, message, AlterClientQuotasResponse.class, response -> {
            AlterClientQuotasResponse.EntryData result = response.entries().get(0);
            ProtocolErrors.check(result.errorCode(), result.errorMessage(), "quota");
            request.respond(json -> json.writeBooleanField("executed", request.executes()));
        });
    }
}
