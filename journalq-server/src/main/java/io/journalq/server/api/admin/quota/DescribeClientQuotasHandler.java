package io.journalq.server.api.admin.quota;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.DescribeClientQuotasRequest;
import io.journalq.common.protocol.message.DescribeClientQuotasRequest.ComponentData;
import io.journalq.common.protocol.message.DescribeClientQuotasResponse;
import io.journalq.common.protocol.message.DescribeClientQuotasResponse.EntityData;
import io.journalq.common.protocol.message.DescribeClientQuotasResponse.EntryData;
import io.journalq.common.protocol.message.DescribeClientQuotasResponse.ValueData;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** DescribeClientQuotas, versions 0 and 1 (KIP-546, KIP-612): the limits of the entities that match a filter. */
public final class DescribeClientQuotasHandler implements Handler<DescribeClientQuotasRequest> {
    private static final byte EXACTLY = 0;
    private static final byte DEFAULT = 1;
    private static final byte ANY = 2;

    private final Supplier<MetadataImage> images;

    public DescribeClientQuotasHandler(Supplier<MetadataImage> images) {
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1, AccessRule.asks(Right.DESCRIBE_CLUSTER_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, DescribeClientQuotasRequest request) {
        if (!context.allows(Right.DESCRIBE_CLUSTER_CONFIGS)) {
            context.respond(new DescribeClientQuotasResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial())
                    .setEntries(null));
            return;
        }
        String problem = problem(request.components());
        if (problem != null) {
            context.respond(new DescribeClientQuotasResponse()
                    .setErrorCode(ErrorCode.INVALID_REQUEST.code())
                    .setErrorMessage(problem)
                    .setEntries(null));
            return;
        }
        List<EntryData> entries = new ArrayList<>();
        images.get().quotas().byEntity().forEach((entity, limits) -> {
            if (matches(entity, request)) {
                entries.add(entry(entity, limits));
            }
        });
        context.respond(new DescribeClientQuotasResponse().setEntries(entries));
    }

    private static String problem(List<ComponentData> components) {
        Set<String> seen = new TreeSet<>();
        for (ComponentData component : components) {
            String problem = EntityTypes.problem(component.entityType(), component.match());
            if (problem != null) {
                return problem;
            }
            if (!seen.add(component.entityType())) {
                return "the filter names '" + component.entityType() + "' twice";
            }
            if (component.matchType() < EXACTLY || component.matchType() > ANY) {
                return "there is no match type of number " + component.matchType();
            }
            if ((component.matchType() == EXACTLY) != (component.match() != null)) {
                return "an exact match needs a name, and other matches must have none";
            }
        }
        return null;
    }

    private static boolean matches(QuotaEntity entity, DescribeClientQuotasRequest request) {
        for (ComponentData component : request.components()) {
            Part part = EntityTypes.part(entity, component.entityType());
            if (part == null || !matches(part, component)) {
                return false;
            }
        }
        int parts = (entity.user() == null ? 0 : 1)
                + (entity.clientId() == null ? 0 : 1)
                + (entity.address() == null ? 0 : 1);
        return !request.strict() || parts == request.components().size();
    }

    private static boolean matches(Part part, ComponentData component) {
        return switch (component.matchType()) {
            case EXACTLY -> match(component).equals(part.name());
            case DEFAULT -> part.name() == null;
            default -> true;
        };
    }

    private static String match(ComponentData component) {
        return component.entityType().equals(EntityTypes.ADDRESS)
                ? EntityTypes.address(component.match())
                : component.match();
    }

    private static EntryData entry(QuotaEntity entity, SortedMap<String, Double> limits) {
        List<EntityData> parts = new ArrayList<>();
        for (String type : List.of(EntityTypes.USER, EntityTypes.CLIENT_ID, EntityTypes.ADDRESS)) {
            Part part = EntityTypes.part(entity, type);
            if (part != null) {
                parts.add(new EntityData().setEntityType(type).setEntityName(part.name()));
            }
        }
        return new EntryData()
                .setEntity(parts)
                .setValues(limits.entrySet().stream()
                        .map(limit -> new ValueData().setKey(limit.getKey()).setValue(limit.getValue()))
                        .toList());
    }
}
