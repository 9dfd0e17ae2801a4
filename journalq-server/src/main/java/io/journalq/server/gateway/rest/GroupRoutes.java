package io.journalq.server.gateway.rest;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DeleteGroupsRequest;
import io.journalq.common.protocol.message.DeleteGroupsResponse;
import io.journalq.common.protocol.message.ListGroupsRequest;
import io.journalq.common.protocol.message.ListGroupsResponse;
import io.journalq.common.protocol.message.ListGroupsResponse.ListedGroup;
import io.journalq.server.gateway.BrokerView;
import io.journalq.server.gateway.http.Route;
import io.journalq.server.gateway.http.RouteDescription;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.gateway.problem.ProtocolErrors;
import io.journalq.server.gateway.rest.GroupDescriptions.Described;
import io.journalq.server.gateway.rest.GroupDescriptions.Member;
import io.journalq.server.gateway.rest.GroupPositions.Lag;
import io.journalq.server.gateway.rest.GroupPositions.Row;
import io.journalq.server.gateway.rest.ListQuery.Field;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * {@code /v1/groups}: the groups, their members, positions and lags, and the deletion of
 * groups. Immutable.
 *
 * @param images supplies the newest image
 * @param broker knows the ages of records
 */
record GroupRoutes(Supplier<MetadataImage> images, BrokerView broker) {
    /** Groups whose lag is computed at a time, if the whole list is sorted by lag. */
    private static final int STEP_GROUPS = 500;

    /** Maximum number of groups of a list that is sorted by lag. */
    private static final int MAX_LAGS = 10_000;

    /** Maximum number of members in a response. */
    private static final int MAX_MEMBERS = 1_000;

    /** Upper bound of the size of a listed group, without its name. */
    private static final int GROUP_BYTES = 160;

    private static final int POSITION_BYTES = 180;
    private static final Lag UNKNOWN_LAG = new Lag(0, BrokerView.UNKNOWN, BrokerView.UNKNOWN);

    private static final ListQuery.Shape<Row> POSITIONS = new ListQuery.Shape<>(
            row -> row.partition().topic()
                    + String.format(":%09d", row.partition().partition()),
            row -> row.partition().topic() + ":" + row.partition().partition(),
            List.of(
                    Field.text("topic", row -> row.partition().topic()),
                    Field.number("lag", Row::lag),
                    Field.number("lagMs", Row::lagMs)),
            row -> POSITION_BYTES
                    + row.partition().topic().length()
                    + 2 * row.metadata().length());

    List<Route> routes() {
        OffsetReset reset = new OffsetReset(this);
        return List.of(
                RestRoute.get("/v1/groups", ListQuery.description("lists groups with their lag"), this::list),
                RestRoute.get(
                        "/v1/groups/{group}", RouteDescription.of("describes a group and its members"), this::describe),
                RestRoute.delete(
                        "/v1/groups/{group}",
                        RouteDescription.of("deletes a group without members, with its offsets"),
                        GroupRoutes::delete),
                RestRoute.get(
                        "/v1/groups/{group}/offsets",
                        ListQuery.description("lists the committed offsets of a group"),
                        this::positions),
                RestRoute.post(
                        "/v1/groups/{group}/offsets",
                        RouteDescription.of("changes the committed offsets of a group without members, with execute"),
                        "{\"topic\":\"orders\",\"to\":\"start\"}",
                        reset::run));
    }

    private static ListQuery.Shape<ListedGroup> shape(Map<String, Lag> lags) {
        return new ListQuery.Shape<>(
                ListedGroup::groupId,
                List.of(
                        Field.text("name", ListedGroup::groupId),
                        Field.text("state", ListedGroup::groupState),
                        Field.text("type", ListedGroup::groupType),
                        Field.number("lag", group -> lags.getOrDefault(group.groupId(), UNKNOWN_LAG)
                                .records())),
                group -> GROUP_BYTES + 2 * group.groupId().length());
    }

    private void list(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        request.call(ApiKey.LIST_GROUPS, 5, new ListGroupsRequest(), ListGroupsResponse.class, response -> {
            ProtocolErrors.check(response.errorCode(), null, "groups");
            List<ListedGroup> all = response.groups();
            if (!"lag".equals(query.sort())) {
                respond(request, query.page(all, shape(Map.of())));
                return;
            }
            if (all.size() > MAX_LAGS) {
                throw new Problem(
                                ProblemType.INVALID_PARAMETER,
                                "more than " + MAX_LAGS + " groups cannot be sorted by lag",
                                "sort by name, or read the metric journalq_group_lag_records")
                        .exception();
            }
            lags(
                    request,
                    all.stream().map(ListedGroup::groupId).toList(),
                    0,
                    new HashMap<>(),
                    lags -> respond(request, query.page(all, shape(lags))));
        });
    }

    /** Computes the lags of groups, some at a time, so that other requests are served in between. */
    private static void lags(
            RestRequest request,
            List<String> groups,
            int from,
            Map<String, Lag> lags,
            Consumer<Map<String, Lag>> next) {
        if (from >= groups.size()) {
            next.accept(lags);
            return;
        }
        List<String> step = groups.subList(from, Math.min(groups.size(), from + STEP_GROUPS));
        GroupPositions.find(request, null, step, found -> {
            found.groups().forEach((group, rows) -> lags.put(group, Lag.of(rows)));
            request.exchange().later(() -> lags(request, groups, from + STEP_GROUPS, lags, next));
        });
    }

    private void respond(RestRequest request, ListQuery.Page<ListedGroup> page) {
        List<String> names = page.items().stream().map(ListedGroup::groupId).toList();
        GroupPositions.find(
                request,
                broker,
                names,
                positions -> GroupDescriptions.find(
                        request,
                        names,
                        described -> request.respond(page, (json, group) -> {
                            Lag lag = lag(positions, group.groupId());
                            Described one = described.groups().get(group.groupId());
                            json.writeStringField("name", group.groupId());
                            json.writeStringField("state", group.groupState());
                            json.writeStringField("type", group.groupType());
                            json.writeNumberField(
                                    "members", one == null ? 0 : one.members().size());
                            json.writeNumberField("partitions", lag.partitions());
                            json.writeNumberField("lag", lag.records());
                            json.writeNumberField("lagMs", lag.maxMs());
                        })));
    }

    private static Lag lag(GroupPositions.Found positions, String group) {
        List<Row> rows = positions.groups().get(group);
        return rows == null ? UNKNOWN_LAG : Lag.of(rows);
    }

    private void describe(RestRequest request) {
        String name = request.path("group");
        find(
                request,
                name,
                described -> GroupPositions.find(request, broker, List.of(name), positions -> {
                    Lag lag = lag(positions, name);
                    request.respond(json -> {
                        json.writeStringField("name", name);
                        json.writeStringField("state", described.state());
                        json.writeStringField("type", described.type());
                        json.writeStringField("assignor", described.assignor());
                        json.writeNumberField("partitions", lag.partitions());
                        json.writeNumberField("lag", lag.records());
                        json.writeNumberField("lagMs", lag.maxMs());
                        json.writeNumberField("memberCount", described.members().size());
                        json.writeArrayFieldStart("members");
                        for (Member member :
                                described.members().stream().limit(MAX_MEMBERS).toList()) {
                            json.writeStartObject();
                            json.writeStringField("id", member.id());
                            json.writeStringField("instanceId", member.instanceId());
                            json.writeStringField("clientId", member.clientId());
                            json.writeStringField("host", member.host());
                            json.writeObjectFieldStart("assigned");
                            for (Map.Entry<String, List<Integer>> topic :
                                    member.assigned().entrySet()) {
                                json.writeFieldName(topic.getKey());
                                json.writeArray(
                                        TopicRoutes.ints(topic.getValue()),
                                        0,
                                        topic.getValue().size());
                            }
                            json.writeEndObject();
                            json.writeEndObject();
                        }
                        json.writeEndArray();
                    });
                }));
    }

    /** Describes a group, which must exist. */
    private void find(RestRequest request, String name, Consumer<Described> next) {
        GroupDescriptions.find(request, List.of(name), found -> {
            Described described = found.groups().get(name);
            if (described == null) {
                checkCoordinator(found.errors().get(name), name);
                throw new Problem(
                                ProblemType.UNKNOWN_GROUP,
                                "there is no group of this name that the client may describe",
                                "check the name; GET /v1/groups lists the groups")
                        .exception();
            }
            next.accept(described);
        });
    }

    /**
     * Ends the request if the coordinator of a group cannot say now whether there is the group.
     *
     * @param error null if it can
     */
    void checkCoordinator(ErrorCode error, String name) {
        boolean away = error != null
                && switch (error) {
                    case COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR -> true;
                    // Until there was a first group, there is no coordinator.
                    case COORDINATOR_NOT_AVAILABLE -> images.get().topic(InternalTopics.GROUPS) != null;
                    default -> false;
                };
        if (away) {
            throw ProtocolErrors.problem(error, null, "group " + name).exception();
        }
    }

    /** The positions of a group. Ends the request if they cannot be known now, because the group is not without any. */
    List<Row> positions(GroupPositions.Found found, String name) {
        checkCoordinator(found.errors().get(name), name);
        return found.groups().getOrDefault(name, List.of());
    }

    private void positions(RestRequest request) {
        ListQuery query = ListQuery.of(request.exchange());
        String name = request.path("group");
        find(
                request,
                name,
                described -> GroupPositions.find(
                        request,
                        broker,
                        List.of(name),
                        found -> request.respond(query.page(positions(found, name), POSITIONS), (json, row) -> {
                            json.writeStringField("topic", row.partition().topic());
                            json.writeNumberField("partition", row.partition().partition());
                            json.writeNumberField("committed", row.committed());
                            json.writeNumberField("end", row.end());
                            json.writeNumberField("lag", row.lag());
                            json.writeNumberField("lagMs", row.lagMs());
                            if (!row.metadata().isEmpty()) {
                                json.writeStringField("metadata", row.metadata());
                            }
                        })));
    }

    private static void delete(RestRequest request) {
        request.body().checkMembers(List.of());
        String name = request.path("group");
        DeleteGroupsRequest message = new DeleteGroupsRequest().setGroupsNames(List.of(name));
        request.call(ApiKey.DELETE_GROUPS, 2, message, DeleteGroupsResponse.class, response -> {
            ProtocolErrors.check(response.results().get(0).errorCode(), null, "group " + name);
            request.respond(json -> json.writeStringField("deleted", name));
        });
    }
}
