package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.FindCoordinatorResponse.Coordinator;
import io.journalq.server.api.BrokerIdentity;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * FindCoordinator, versions 0 to 6: the coordinator of a group or a transactional id, or of several from version 4
 * (KIP-699). With one broker, it is always this one. The first request of a kind creates the internal topic of its
 * coordinators. The response waits while coordinators are loaded, so that a client's first commit finds them ready.
 * Share groups (KIP-932) are not served.
 */
public final class FindCoordinatorHandler implements Handler<FindCoordinatorRequest> {
    /** Key type of groups. */
    public static final byte GROUP = 0;

    /** Key type of transactional ids. */
    public static final byte TRANSACTION = 1;

    private static final short FIRST_BATCHED_VERSION = 4;
    private static final int NO_NODE = -1;

    /**
     * Maximum wait for coordinators to load. Afterwards the response is sent anyway, and the coordinator itself
     * responds that it is loading.
     */
    private static final int LOAD_WAIT_MAX_MS = 5_000;

    private final BrokerIdentity identity;
    private final Map<Byte, CoordinatorTopic> topics;

    /** @param topicsByKeyType the internal topics of the served key types */
    public FindCoordinatorHandler(BrokerIdentity identity, Map<Byte, CoordinatorTopic> topicsByKeyType) {
        this.identity = identity;
        this.topics = new TreeMap<>(topicsByKeyType);
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.FIND_COORDINATOR, 0, 6);
    }

    @Override
    public void handle(RequestContext context, FindCoordinatorRequest request) {
        CoordinatorTopic topic = topics.get(request.keyType());
        if (topic == null) {
            context.respond(response(context, request, ErrorCode.INVALID_REQUEST));
            return;
        }
        DeferredResponse.within(
                LOAD_WAIT_MAX_MS, topic.ensureLoaded(keys(context, request)), context, (done, failure) -> {
                    ErrorCode error = topic.isThere() ? ErrorCode.NONE : ErrorCode.COORDINATOR_NOT_AVAILABLE;
                    return response(context, request, error);
                });
    }

    private static boolean isBatched(RequestContext context) {
        return context.apiVersion() >= FIRST_BATCHED_VERSION;
    }

    private static List<String> keys(RequestContext context, FindCoordinatorRequest request) {
        return isBatched(context) ? request.coordinatorKeys() : List.of(request.key());
    }

    private FindCoordinatorResponse response(RequestContext context, FindCoordinatorRequest request, ErrorCode error) {
        List<Coordinator> coordinators = new ArrayList<>();
        for (String key : keys(context, request)) {
            coordinators.add(coordinator(context, key, error));
        }
        FindCoordinatorResponse response = new FindCoordinatorResponse();
        if (isBatched(context)) {
            return response.setCoordinators(coordinators);
        }
        Coordinator only = coordinators.get(0);
        return response.setErrorCode(only.errorCode())
                .setErrorMessage(only.errorMessage())
                .setNodeId(only.nodeId())
                .setHost(only.host())
                .setPort(only.port());
    }

    private Coordinator coordinator(RequestContext context, String key, ErrorCode error) {
        Coordinator result = new Coordinator().setKey(key);
        if (error != ErrorCode.NONE) {
            return result.setErrorCode(error.code())
                    .setErrorMessage(error.words())
                    .setNodeId(NO_NODE)
                    .setHost("")
                    .setPort(NO_NODE);
        }
        ListenerAddress address = identity.addressFor(context);
        return result.setNodeId(identity.nodeId()).setHost(address.host()).setPort(address.port());
    }
}
