package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.UpdateFeaturesRequest;
import io.journalq.common.protocol.message.UpdateFeaturesRequest.FeatureUpdateKey;
import io.journalq.common.protocol.message.UpdateFeaturesResponse;
import io.journalq.common.protocol.message.UpdateFeaturesResponse.UpdatableFeatureResult;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.DeferredResponse;
import io.journalq.server.api.Feature;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.control.Controller;
import io.journalq.server.control.Controller.ResourceChange;
import io.journalq.server.control.Outcome;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.security.Right;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * UpdateFeatures, versions 0 to 2 (KIP-584, KIP-1022): changes the levels of features, from 0 (off) up to the highest
 * supported level. A lower level needs an explicit downgrade. If one update is refused, all are.
 */
public final class UpdateFeaturesHandler implements Handler<UpdateFeaturesRequest> {
    private static final short FIRST_VERSION_WITH_UPGRADE_TYPE = 1;
    private static final short FIRST_VERSION_WITHOUT_RESULTS = 2;
    private static final byte UPGRADE = 1;
    private static final byte SAFE_DOWNGRADE = 2;
    private static final byte UNSAFE_DOWNGRADE = 3;

    private final Supplier<MetadataImage> images;
    private final Controller controller;

    /** @param images supplies the newest image, with the levels in force */
    public UpdateFeaturesHandler(Supplier<MetadataImage> images, Controller controller) {
        this.images = images;
        this.controller = controller;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.UPDATE_FEATURES, 0, 2, AccessRule.asks(Right.ALTER_CLUSTER));
    }

    @Override
    public void handle(RequestContext context, UpdateFeaturesRequest request) {
        if (!context.allows(Right.ALTER_CLUSTER)) {
            context.respond(new UpdateFeaturesResponse()
                    .setErrorCode(ErrorCode.CLUSTER_AUTHORIZATION_FAILED.code())
                    .setErrorMessage(context.denial()));
            return;
        }
        MetadataImage image = images.get();
        List<UpdatableFeatureResult> results = new ArrayList<>();
        List<ResourceChange> changes = new ArrayList<>();
        String refused = null;
        for (FeatureUpdateKey update : request.featureUpdates()) {
            String problem = problem(context.apiVersion(), update, image);
            UpdatableFeatureResult result = new UpdatableFeatureResult().setFeature(update.feature());
            results.add(result);
            if (problem != null) {
                result.setErrorCode(ErrorCode.INVALID_UPDATE_VERSION.code()).setErrorMessage(problem);
                refused = problem;
            } else {
                changes.add(change(update));
            }
        }
        if (refused != null) {
            // Up to version 1, clients look at the result of each feature only.
            String reason = "not changed, because another update of the request is refused: " + refused;
            for (UpdatableFeatureResult result : results) {
                if (result.errorCode() == ErrorCode.NONE.code()) {
                    result.setErrorCode(ErrorCode.INVALID_UPDATE_VERSION.code()).setErrorMessage(reason);
                }
            }
            context.respond(response(context, results, ErrorCode.INVALID_UPDATE_VERSION, refused));
            return;
        }
        boolean validateOnly = context.apiVersion() >= FIRST_VERSION_WITH_UPGRADE_TYPE && request.validateOnly();
        DeferredResponse.within(
                request.timeoutMs(),
                controller.alterResourceConfigs(changes, validateOnly),
                context,
                (outcomes, failure) -> {
                    Outcome first = new Outcome(ErrorCode.NONE, null, null);
                    for (int i = 0; i < results.size(); i++) {
                        Outcome outcome = failure == null ? outcomes.get(i) : Outcome.of(failure);
                        results.get(i).setErrorCode(outcome.error().code()).setErrorMessage(outcome.reason());
                        first = first.error() == ErrorCode.NONE ? outcome : first;
                    }
                    return response(context, results, first.error(), first.reason());
                });
    }

    private static ResourceChange change(FeatureUpdateKey update) {
        Feature feature = Feature.named(update.feature());
        // Without a setting, the highest level is in force.
        String level =
                update.maxVersionLevel() == feature.highestLevel() ? null : Short.toString(update.maxVersionLevel());
        return new ResourceChange(feature.resource(), image -> level == null ? reset() : Map.of(Feature.LEVEL, level));
    }

    private static Map<String, String> reset() {
        return Collections.singletonMap(Feature.LEVEL, null);
    }

    private static UpdateFeaturesResponse response(
            RequestContext context, List<UpdatableFeatureResult> results, ErrorCode error, String message) {
        UpdateFeaturesResponse response = new UpdateFeaturesResponse().setResults(results);
        return context.apiVersion() >= FIRST_VERSION_WITHOUT_RESULTS && error != ErrorCode.NONE
                ? response.setErrorCode(error.code()).setErrorMessage(message)
                : response;
    }

    private static String problem(short version, FeatureUpdateKey update, MetadataImage image) {
        Feature feature = Feature.named(update.feature());
        if (feature == null) {
            return "there is no feature '" + update.feature() + "'";
        }
        short wanted = update.maxVersionLevel();
        short current = feature.level(image);
        if (wanted < 0 || wanted > feature.highestLevel()) {
            return update.feature() + " has levels 0 to " + feature.highestLevel() + ", not " + wanted;
        }
        boolean down = version < FIRST_VERSION_WITH_UPGRADE_TYPE
                ? update.allowDowngrade()
                : update.upgradeType() == SAFE_DOWNGRADE || update.upgradeType() == UNSAFE_DOWNGRADE;
        if (!down && version >= FIRST_VERSION_WITH_UPGRADE_TYPE && update.upgradeType() != UPGRADE) {
            return "there is no type of upgrade " + update.upgradeType();
        }
        if (wanted < current && !down) {
            return update.feature() + " is at level " + current + "; to lower it to " + wanted
                    + " the update must be a downgrade";
        }
        return wanted > current && down
                ? update.feature() + " is at level " + current + ", and " + wanted + " is not below that"
                : null;
    }
}
