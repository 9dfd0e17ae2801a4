package io.journalq.server.api.peer;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.EnvelopeRequest;
import io.journalq.common.protocol.message.EnvelopeResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.HandlerRegistry;
import io.journalq.server.api.LocalCall;
import io.journalq.server.api.LocalCalls;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.InternalTopics;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.TopicImage;
import io.journalq.server.peer.PeerRequests;
import io.journalq.server.shard.coordinator.Coordinators;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Calls handlers where the leaders of partitions and the coordinators of groups are, for clients that know only this
 * broker. A request for several brokers is split, and the responses are merged. Parts for other brokers travel in
 * envelopes, with the identity of the client (KIP-590). Quotas of the client apply here, and its rights there.
 *
 * <p>If leaders have just changed, the response is what the broker asked says, such as NOT_LEADER_OR_FOLLOWER. Only {@link
 * RoutedFetch} tries again. Any thread; calls are on the loop of their client.
 */
public final class RoutedCalls implements LocalCalls {
    private static final int VERSION = 0;

    /** Longer than a produce request waits for replicas. */
    private static final int TIMEOUT_MS = 35_000;

    /** The APIs that another broker serves in envelopes, besides those of {@link ForwardingHandler}. */
    private static final Map<ApiKey, SplitRequest<?, ?>> SPLIT = Map.ofEntries(
            Map.entry(ApiKey.PRODUCE, SplitRequest.PRODUCE),
            Map.entry(ApiKey.FETCH, SplitRequest.FETCH),
            Map.entry(ApiKey.LIST_OFFSETS, SplitRequest.LIST_OFFSETS),
            Map.entry(ApiKey.DELETE_RECORDS, SplitRequest.DELETE_RECORDS),
            Map.entry(ApiKey.CONSUMER_GROUP_HEARTBEAT, SplitRequest.CONSUMER_GROUP_HEARTBEAT),
            Map.entry(ApiKey.OFFSET_COMMIT, SplitRequest.OFFSET_COMMIT),
            Map.entry(ApiKey.OFFSET_FETCH, SplitRequest.OFFSET_FETCH),
            Map.entry(ApiKey.DESCRIBE_GROUPS, SplitRequest.DESCRIBE_GROUPS),
            Map.entry(ApiKey.CONSUMER_GROUP_DESCRIBE, SplitRequest.CONSUMER_GROUP_DESCRIBE),
            Map.entry(ApiKey.DELETE_GROUPS, SplitRequest.DELETE_GROUPS),
            Map.entry(ApiKey.LIST_GROUPS, SplitRequest.LIST_GROUPS));

    private final int nodeId;
    private final Supplier<MetadataImage> images;
    private final HandlerRegistry handlers;
    private final Peers peers;
    private final LocalCalls here;

    /**
     * Connections to other brokers. Responses arrive in the order of the requests, so requests that take long have
     * connections of their own.
     */
    public record Peers(PeerRequests appends, PeerRequests reads, PeerRequests groups) {
        PeerRequests of(ApiKey api) {
            return switch (api) {
                case PRODUCE, DELETE_RECORDS -> appends;
                case FETCH, LIST_OFFSETS -> reads;
                default -> groups;
            };
        }
    }

    /**
     * Calls nothing yet.
     *
     * @param nodeId this broker
     * @param images supplies the newest image
     * @param handlers the handlers of this broker
     */
    public RoutedCalls(int nodeId, Supplier<MetadataImage> images, HandlerRegistry handlers, Peers peers) {
        this.nodeId = nodeId;
        this.images = images;
        this.handlers = handlers;
        this.peers = peers;
        this.here = LocalCalls.here(handlers);
    }

    /** Whether a broker serves requests of an API that another broker passes on for its clients. */
    static boolean serves(ApiKey api) {
        return SPLIT.containsKey(api);
    }

    /** Where the parts of a request go. */
    record Placement(int nodeId, MetadataImage image) {
        /** The leader of a partition; this broker if there is none, because it knows the error. */
        int leader(String topic, int partition) {
            TopicImage known = image.topic(topic);
            boolean exists = known != null
                    && partition >= 0
                    && partition < known.partitions().size();
            return exists ? live(known.partitions().get(partition).leader()) : nodeId;
        }

        /** The coordinator of a group; this broker if there is none. */
        int coordinator(String group) {
            TopicImage topic = image.topic(InternalTopics.GROUPS);
            return topic == null
                    ? nodeId
                    : leader(
                            InternalTopics.GROUPS,
                            Coordinators.partitionOf(group, topic.partitions().size()));
        }

        private int live(int broker) {
            return image.liveBroker(broker) == null ? nodeId : broker;
        }
    }

    Placement placement() {
        return new Placement(nodeId, images.get());
    }

    int nodeId() {
        return nodeId;
    }

    @Override
    public void call(
            LocalCall.Client client,
            ApiKey api,
            int version,
            ApiMessage message,
            int sizeBytes,
            Consumer<ApiMessage> onResponse) {
        SplitRequest<?, ?> split = SPLIT.get(api);
        if (message instanceof FetchRequest fetch) {
            new RoutedFetch(this, client, version, fetch, onResponse::accept).start();
        } else if (split == null) {
            here.call(client, api, version, message, sizeBytes, onResponse);
        } else {
            callSplit(client, split, version, message, sizeBytes, onResponse);
        }
    }

    @SuppressWarnings("unchecked") // the message is of the API
    private <Q extends ApiMessage, R extends ApiMessage> void callSplit(
            LocalCall.Client client,
            SplitRequest<Q, R> split,
            int version,
            ApiMessage message,
            int sizeBytes,
            Consumer<ApiMessage> onResponse) {
        Q request = (Q) message;
        Map<Integer, Q> parts = split.parts(request, placement());
        if (parts.size() == 1) {
            parts.forEach((broker, part) -> callAt(broker, client, split, version, request, sizeBytes, onResponse));
            return;
        }
        Merge<R> merge =
                new Merge<>(parts.size(), responses -> onResponse.accept(split.merge(request, responses)), onResponse);
        parts.forEach((broker, part) -> callAt(broker, client, split, version, part, sizeBytes / parts.size(), merge));
    }

    /** Collects the responses of parts. On the loop of the client. */
    private static final class Merge<R> implements Consumer<ApiMessage> {
        private final List<R> responses = new ArrayList<>();
        private final Consumer<List<R>> done;
        private final Consumer<ApiMessage> onNothing;
        private int open;
        private boolean incomplete;

        Merge(int parts, Consumer<List<R>> done, Consumer<ApiMessage> onNothing) {
            this.open = parts;
            this.done = done;
            this.onNothing = onNothing;
        }

        @Override
        @SuppressWarnings("unchecked") // of the API of the request
        public void accept(ApiMessage response) {
            open--;
            if (response == null) {
                incomplete = true;
            } else {
                responses.add((R) response);
            }
            if (open == 0 && incomplete) {
                onNothing.accept(null);
            } else if (open == 0) {
                done.accept(responses);
            }
        }
    }

    /** Calls the handler of one broker. */
    <Q extends ApiMessage, R extends ApiMessage> void callAt(
            int broker,
            LocalCall.Client client,
            SplitRequest<Q, R> split,
            int version,
            Q request,
            int sizeBytes,
            Consumer<ApiMessage> onResponse) {
        HandlerRegistry.Served local = handlers.find(request.apiKey().id());
        HandlerRegistry.Served served = broker == nodeId
                ? local
                : new HandlerRegistry.Served(
                        local.api(),
                        new Remote<>(broker, local.api(), split, peers.of(request.apiKey())),
                        local.authorizer());
        new LocalCall(client, served, version, sizeBytes, onResponse).start(request);
    }

    /** The handler of an API on another broker. */
    private record Remote<Q extends ApiMessage, R extends ApiMessage>(
            int broker, ServedApi api, SplitRequest<Q, R> split, PeerRequests peers) implements Handler<Q> {
        @Override
        public void handle(RequestContext context, Q request) {
            split.retain(request);
            EnvelopeRequest envelope = Envelopes.request(context, request);
            short version = context.apiVersion();
            var unused = peers.send(
                            broker,
                            envelope,
                            VERSION,
                            TIMEOUT_MS,
                            response -> opened((EnvelopeResponse) response, request.apiKey(), version))
                    .whenComplete((response, failure) ->
                            context.respond(failure != null || response == null ? split.refusal(request) : response));
        }

        /** The response in an envelope, with memory of its own; null if there is none. */
        private static ApiMessage opened(EnvelopeResponse envelope, ApiKey key, short version) {
            if (envelope.errorCode() != ErrorCode.NONE.code() || envelope.responseData() == null) {
                return null;
            }
            ByteBuf copy = Unpooled.copiedBuffer(envelope.responseData());
            try {
                ApiMessage response = Envelopes.readResponse(copy, key, version);
                if (response instanceof FetchResponse fetched) {
                    RoutedFetch.own(fetched);
                    copy.release();
                }
                return response;
            } catch (RuntimeException malformed) {
                return null;
            }
        }
    }
}
