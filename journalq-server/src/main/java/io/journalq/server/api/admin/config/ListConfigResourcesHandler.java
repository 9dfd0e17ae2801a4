package io.journalq.server.api.admin.config;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListConfigResourcesRequest;
import io.journalq.common.protocol.message.ListConfigResourcesResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.ResourceId.Kind;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/**
 * ListConfigResources, versions 0 and 1 (KIP-714, KIP-1142): the resources that have settings, by type. Groups and
 * client metrics subscriptions are listed if they set something. Version 0 only lists client metrics subscriptions.
 */
public final class ListConfigResourcesHandler implements Handler<ListConfigResourcesRequest> {
    private static final List<Byte> EVERY_TYPE = List.of(
            ConfigResourceTypes.TOPIC,
            ConfigResourceTypes.BROKER,
            ConfigResourceTypes.BROKER_LOGGER,
            ConfigResourceTypes.CLIENT_METRICS,
            ConfigResourceTypes.GROUP);

    private final Supplier<MetadataImage> images;

    public ListConfigResourcesHandler(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.LIST_CONFIG_RESOURCES, 0, 1, AccessRule.asks(Right.DESCRIBE_CLUSTER_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, ListConfigResourcesRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER_CONFIGS)) {
            context.respond(
                    new ListConfigResourcesResponse().setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code()));
            return;
        }
        List<Byte> types = typesOf(context, request);
        ListConfigResourcesResponse response = new ListConfigResourcesResponse();
        if (!EVERY_TYPE.containsAll(types)) {
            context.respond(response.setErrorCode(ErrorCode.UNSUPPORTED_VERSION.code()));
            return;
        }
        List<ListConfigResourcesResponse.ConfigResource> resources = new ArrayList<>();
        for (byte type : types) {
            for (String name : names(type)) {
                resources.add(new ListConfigResourcesResponse.ConfigResource()
                        .setResourceType(type)
                        .setResourceName(name));
            }
        }
        context.respond(response.setConfigResources(resources));
    }

    private static List<Byte> typesOf(RequestContext context, ListConfigResourcesRequest request) {
        if (context.apiVersion() == 0) {
            return List.of(ConfigResourceTypes.CLIENT_METRICS);
        }
        return request.resourceTypes().isEmpty()
                ? EVERY_TYPE
                : request.resourceTypes().stream().distinct().toList();
    }

    private Collection<String> names(byte type) {
        return switch (type) {
            case ConfigResourceTypes.TOPIC ->
                images.get().topics().stream().map(topic -> topic.name()).toList();
            case ConfigResourceTypes.BROKER, ConfigResourceTypes.BROKER_LOGGER ->
                ConfigResourceTypes.brokerNames(images.get());
            default -> images.get().resources().ofKind(Kind.of(type)).keySet();
        };
    }
}
