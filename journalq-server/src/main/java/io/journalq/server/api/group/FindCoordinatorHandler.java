package io.journalq.server.api.group;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FindCoordinatorRequest;
import io.journalq.common.protocol.message.FindCoordinatorResponse;
import io.journalq.common.protocol.message.FindCoordinatorResponse.Coordinator;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.ClusterBrokers;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * FindCoordinator, versions 0 to 6: the coordinator of a group or a transactional id, or of several from version 4
 * (KIP-699). It is the leader of the key's partition. The first request of a kind creates the internal topic of its
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

    private final ClusterBrokers brokers;
    private final Map<Byte, CoordinatorTopic> topics;

    /** @param topicsByKeyType the internal topics of the served key types */
    public FindCoordinatorHandler(ClusterBrokers brokers, Map<Byte, CoordinatorTopic> topicsByKeyType) {
        this.brokers = brokers;
        this.topics = new TreeMap<>(topicsByKeyType);
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.FIND_COORDINATOR, 0, 6, AccessRule.asks(Right.DESCRIBE_GROUP, Right.DESCRIBE_TRANSACTIONAL_ID));
    }

    @Override
    public void handle(RequestContext context, FindCoordinatorRequest request) {
        CoordinatorTopic topic = topics.get(request.keyType());
        if (topic == null) {
            context.respond(response(context, request, key -> refusal(key, ErrorCode.INVALID_REQUEST)));
            return;
        }
        Set<String> allowed = new TreeSet<>();
        Map<String, Coordinator> denied = new TreeMap<>();
        Right right = request.keyType() == GROUP ? Right.DESCRIBE_GROUP : Right.DESCRIBE_TRANSACTIONAL_ID;
        ErrorCode denial = request.keyType() == GROUP
                ? ErrorCode.GROUP_AUTHORIZATION_FAILED
                : ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
        for (String key : keys(context, request)) {
            if (context.allows(right, key)) {
                allowed.add(key);
            } else {
                denied.put(key, refusal(key, denial).setErrorMessage(context.denial()));
            }
        }
        if (allowed.isEmpty()) {
            // A client without rights does not create the topic of the coordinators.
            context.respond(response(context, request, denied::get));
            return;
        }
        DeferredResponse.within(
                LOAD_WAIT_MAX_MS,
                topic.ensureLoaded(new ArrayList<>(allowed)),
                context,
                (done, failure) -> response(
                        context,
                        request,
                        key -> allowed.contains(key) ? coordinator(context, key, topic) : denied.get(key)));
    }

    private static boolean isBatched(RequestContext context) {
        return context.apiVersion() >= FIRST_BATCHED_VERSION;
    }

    private static List<String> keys(RequestContext context, FindCoordinatorRequest request) {
        return isBatched(context) ? request.coordinatorKeys() : List.of(request.key());
    }

    private static FindCoordinatorResponse response(
            RequestContext context, FindCoordinatorRequest request, Function<String, Coordinator> find) {
        List<Coordinator> coordinators =
                keys(context, request).stream().map(find).toList();
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

    private Coordinator coordinator(RequestContext context, String key, CoordinatorTopic topic) {
        BrokerImage broker = brokers.live(topic.leaderFor(key));
        ListenerAddress address = broker == null ? null : brokers.addressOf(broker, context);
        if (address == null) {
            return refusal(key, ErrorCode.COORDINATOR_NOT_AVAILABLE);
        }
        return new Coordinator()
                .setKey(key)
                .setNodeId(broker.nodeId())
                .setHost(address.host())
                .setPort(address.port());
    }

    private static Coordinator refusal(String key, ErrorCode error) {
        return new Coordinator()
                .setKey(key)
                .setErrorCode(error.code())
                .setErrorMessage(error.words())
                .setNodeId(NO_NODE)
                .setHost("")
                .setPort(NO_NODE);
    }
}
