package io.journalq.client.internal.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** The API versions that a broker supports, from its ApiVersions response. Immutable (KIP-35). */
final class VersionTable {
    /** There is no common version. */
    static final short NONE = -1;

    private final Map<ApiKey, short[]> ranges = new EnumMap<>(ApiKey.class);
    private final Map<String, Short> features = new HashMap<>();

    VersionTable(ApiVersionsResponse response) {
        for (ApiVersionsResponse.ApiVersion served : response.apiKeys()) {
            ApiKey key = ApiKey.of(served.apiKey());
            if (key != null) {
                ranges.put(key, new short[] {served.minVersion(), served.maxVersion()});
            }
        }
        for (ApiVersionsResponse.FinalizedFeatureKey feature : response.finalizedFeatures()) {
            features.put(feature.name(), feature.maxVersionLevel());
        }
    }

    /** Returns the finalized level of a feature (KIP-584), or 0 if it is not finalized. */
    short featureLevel(String name) {
        return features.getOrDefault(name, (short) 0);
    }

    /**
     * Returns the newest version that both sides support, or {@link #NONE}.
     *
     * @param newest the newest version that this client supports
     */
    short choose(ApiKey key, short newest) {
        short[] range = ranges.get(key);
        if (range == null) {
            return NONE;
        }
        int version = Math.min(newest, range[1]);
        return version >= Math.max(key.lowestVersion(), range[0]) ? (short) version : NONE;
    }
}
