package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.ListGroupsRequest;
import io.journalq.common.protocol.message.ListGroupsResponse;
import io.journalq.common.protocol.message.ListGroupsResponse.ListedGroup;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.GroupMachine;
import io.journalq.server.metadata.security.AclResourceType;
import io.journalq.server.security.Right;
import io.journalq.server.shard.coordinator.Coordinators;
import java.util.List;

/**
 * ListGroups, versions 0 to 5: all groups, or those in given states (KIP-518) and of given types (KIP-848). Names of
 * states and types are compared without regard to case.
 */
public final class ListGroupsHandler implements Handler<ListGroupsRequest> {
    private final Coordinators<GroupMachine> groups;

    public ListGroupsHandler(Coordinators<GroupMachine> groups) {
        this.groups = groups;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_GROUPS, 0, 5, AccessRule.asks(Right.DESCRIBE_CLUSTER, Right.DESCRIBE_GROUP));
    }

    @Override
    public void handle(RequestContext context, ListGroupsRequest request) {
        boolean all = context.sees(Right.DESCRIBE_CLUSTER, AclResourceType.CLUSTER_NAME);
        groups.gather(
                (machine, nowMs) -> machine.list(),
                found -> context.respond(new ListGroupsResponse()
                        .setGroups(found.stream()
                                .flatMap(List::stream)
                                .filter(group -> isWanted(request, group))
                                .filter(group -> all || context.sees(Right.DESCRIBE_GROUP, group.groupId()))
                                .toList())),
                error -> context.respond(
                        new ListGroupsResponse().setErrorCode(error.code()).setGroups(List.of())));
    }

    private static boolean isWanted(ListGroupsRequest request, ListedGroup group) {
        return isAmong(request.statesFilter(), group.groupState()) && isAmong(request.typesFilter(), group.groupType());
    }

    private static boolean isAmong(List<String> wanted, String name) {
        return wanted == null || wanted.isEmpty() || wanted.stream().anyMatch(name::equalsIgnoreCase);
    }
}
