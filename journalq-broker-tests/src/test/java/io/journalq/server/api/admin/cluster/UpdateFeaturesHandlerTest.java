package io.journalq.server.api.admin.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class UpdateFeaturesHandlerTest extends HandlerTestBase {
    private static final String FEATURE = "transaction.version";
    private static final int HIGHEST_LEVEL = 2;
    private static final int FIRST_VERSION_WITHOUT_RESULTS = 2;

    /** Sets the level that is in force already, so that other tests are not affected. */
    @ServedVersions(ApiKey.UPDATE_FEATURES)
    void shouldPutTheHighestLevelInForce(int version) throws Exception {
        UpdateFeaturesResponse response = update(FEATURE, HIGHEST_LEVEL, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        if (version < FIRST_VERSION_WITHOUT_RESULTS) {
            assertThat(response.results().get(0).feature()).isEqualTo(FEATURE);
            assertThat(error(response.results().get(0).errorCode())).isEqualTo(ErrorCode.NONE);
        }
    }

    @Test
    void shouldRefuseALevelWhenTheFeatureOrTheLevelIsUnknown() throws Exception {
        assertThat(error(update(FEATURE, HIGHEST_LEVEL + 1, 2).errorCode()))
                .isEqualTo(ErrorCode.INVALID_UPDATE_VERSION);
        assertThat(error(update("flight", 1, 0).results().get(0).errorCode()))
                .isEqualTo(ErrorCode.INVALID_UPDATE_VERSION);
    }

    @Test
    void shouldReportNoFeatureAsChangedWhenAnotherUpdateIsRefused() throws Exception {
        UpdateFeaturesRequest request = new UpdateFeaturesRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setFeatureUpdates(List.of(
                        new UpdateFeaturesRequest.FeatureUpdateKey()
                                .setFeature(FEATURE)
                                .setMaxVersionLevel((short) HIGHEST_LEVEL),
                        new UpdateFeaturesRequest.FeatureUpdateKey()
                                .setFeature("flight")
                                .setMaxVersionLevel((short) 1)));
        for (int version = 0; version < FIRST_VERSION_WITHOUT_RESULTS; version++) {
            assertThat(call(UpdateFeaturesResponse.class, request, version).results())
                    .hasSize(2)
                    .allSatisfy(result ->
                            assertThat(error(result.errorCode())).isEqualTo(ErrorCode.INVALID_UPDATE_VERSION));
        }
    }

    private UpdateFeaturesResponse update(String feature, int level, int version) throws Exception {
        UpdateFeaturesRequest request = new UpdateFeaturesRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setFeatureUpdates(List.of(new UpdateFeaturesRequest.FeatureUpdateKey()
                        .setFeature(feature)
                        .setMaxVersionLevel((short) level)));
        return call(UpdateFeaturesResponse.class, request, version);
    }
}
