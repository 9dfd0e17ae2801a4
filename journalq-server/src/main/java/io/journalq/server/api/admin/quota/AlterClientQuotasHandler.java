package io.journalq.server.api.admin.quota;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterClientQuotasRequest;
import io.journalq.common.protocol.message.AlterClientQuotasRequest.EntityData;
import io.journalq.common.protocol.message.AlterClientQuotasRequest.EntryData;
import io.journalq.common.protocol.message.AlterClientQuotasRequest.OpData;
import io.journalq.common.protocol.message.AlterClientQuotasResponse;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.QuotaChange;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.QuotaEntity;
import io.journalq.server.metadata.QuotaEntity.Part;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** AlterClientQuotas, versions 0 and 1 (KIP-546, KIP-612): sets and removes limits of entities. */
public final class AlterClientQuotasHandler implements Handler<AlterClientQuotasRequest> {
    private final Controller controller;

    public AlterClientQuotasHandler(Controller controller) {
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.ALTER_CLIENT_QUOTAS, 0, 1, AccessRule.asks(Right.ALTER_CLUSTER_CONFIGS));
    }

    @Override
    public void handle(RequestContext context, AlterClientQuotasRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER_CONFIGS)) {
            Outcome denied = new Outcome(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, context.denial(), null);
            context.respond(new AlterClientQuotasResponse()
                    .setEntries(request.entries().stream()
                            .map(entry -> result(entry, denied))
                            .toList()));
            return;
        }
        List<QuotaChange> changes = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (EntryData entry : request.entries()) {
            String problem = problem(entry);
            problems.add(problem);
            if (problem == null) {
                changes.add(new QuotaChange(entity(entry), limits(entry)));
            }
        }
        DeferredResponse.when(controller.alterQuotas(changes, request.validateOnly()), context, (outcomes, failure) -> {
            List<AlterClientQuotasResponse.EntryData> results = new ArrayList<>();
            int taken = 0;
            for (int i = 0; i < problems.size(); i++) {
                Outcome outcome;
                if (problems.get(i) != null) {
                    outcome = new Outcome(ErrorCode.INVALID_REQUEST, problems.get(i), null);
                } else {
                    outcome = failure != null ? Outcome.NOT_TAKEN : outcomes.get(taken);
                    taken++;
                }
                results.add(result(request.entries().get(i), outcome));
            }
            return new AlterClientQuotasResponse().setEntries(results);
        });
    }

    private static String problem(EntryData entry) {
        if (entry.entity().isEmpty()) {
            return "a quota needs a user, a client, or both, or an address";
        }
        Map<String, String> seen = new TreeMap<>();
        for (EntityData part : entry.entity()) {
            String problem = EntityTypes.problem(part.entityType(), part.entityName());
            if (problem != null) {
                return problem;
            }
            if (seen.containsKey(part.entityType())) {
                return "the entity names two of '" + part.entityType() + "'";
            }
            seen.put(part.entityType(), part.entityName());
        }
        if (seen.containsKey(EntityTypes.ADDRESS) && seen.size() > 1) {
            return "a quota of an address ('ip') has no user and no client";
        }
        long keys = entry.ops().stream().map(OpData::key).distinct().count();
        return keys == entry.ops().size() ? null : "a limit is changed twice in one entry";
    }

    private static QuotaEntity entity(EntryData entry) {
        Part user = null;
        Part clientId = null;
        for (EntityData part : entry.entity()) {
            if (part.entityType().equals(EntityTypes.ADDRESS)) {
                String address = part.entityName() == null ? null : EntityTypes.address(part.entityName());
                return QuotaEntity.at(new Part(address));
            }
            if (part.entityType().equals(EntityTypes.USER)) {
                user = new Part(part.entityName());
            } else {
                clientId = new Part(part.entityName());
            }
        }
        return new QuotaEntity(user, clientId);
    }

    private static Map<String, Double> limits(EntryData entry) {
        Map<String, Double> limits = new TreeMap<>();
        for (OpData operation : entry.ops()) {
            limits.put(operation.key(), operation.remove() ? null : operation.value());
        }
        return limits;
    }

    private static AlterClientQuotasResponse.EntryData result(EntryData entry, Outcome outcome) {
        return new AlterClientQuotasResponse.EntryData()
                .setErrorCode(outcome.error().code())
                .setErrorMessage(outcome.reason())
                .setEntity(entry.entity().stream()
                        .map(part -> new AlterClientQuotasResponse.EntityData()
                                .setEntityType(part.entityType())
                                .setEntityName(part.entityName()))
                        .toList());
    }
}
