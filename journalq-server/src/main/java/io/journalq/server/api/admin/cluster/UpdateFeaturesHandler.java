package io.journalq.server.api.admin.cluster;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.UpdateFeaturesRequest;
import io.journalq.common.protocol.message.UpdateFeaturesRequest.FeatureUpdateKey;
import io.journalq.common.protocol.message.UpdateFeaturesResponse;
import io.journalq.common.protocol.message.UpdateFeaturesResponse.UpdatableFeatureResult;
import io.journalq.server.api.Feature;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import java.util.ArrayList;
import java.util.List;

/**
 * UpdateFeatures, versions 0 to 2 (KIP-584): every feature is in force at its only level, so an update to that level is
 * done already and every other one is refused. One refused update refuses them all, as the protocol has it.
 */
public final class UpdateFeaturesHandler implements Handler<UpdateFeaturesRequest> {
    private static final short FIRST_VERSION_WITHOUT_RESULTS = 2;

    @Override
    public void handle(RequestContext context, UpdateFeaturesRequest request) {
        UpdateFeaturesResponse response = new UpdateFeaturesResponse();
        List<UpdatableFeatureResult> results = new ArrayList<>();
        for (FeatureUpdateKey update : request.featureUpdates()) {
            String problem = problem(update);
            UpdatableFeatureResult result = new UpdatableFeatureResult().setFeature(update.feature());
            if (problem != null) {
                result.setErrorCode(ErrorCode.INVALID_UPDATE_VERSION.code()).setErrorMessage(problem);
                if (context.apiVersion() >= FIRST_VERSION_WITHOUT_RESULTS) {
                    response.setErrorCode(result.errorCode()).setErrorMessage(problem);
                }
            }
            results.add(result);
        }
        context.respond(response.setResults(results));
    }

    private static String problem(FeatureUpdateKey update) {
        Feature feature = Feature.named(update.feature());
        if (feature == null) {
            return "there is no feature '" + update.feature() + "'";
        }
        return update.maxVersionLevel() == feature.level()
                ? null
                : update.feature() + " is at level " + feature.level() + ", the only one that this release knows";
    }
}
