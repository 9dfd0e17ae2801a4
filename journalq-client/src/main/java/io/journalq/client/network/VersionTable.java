package io.journalq.client.network;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Which versions of which API one broker serves, as its ApiVersions answer said. Immutable (KIP-35). */
final class VersionTable {
    /** No common version. */
    static final short NONE = -1;

    private final Map<ApiKey, short[]> ranges = new EnumMap<>(ApiKey.class);
    private final Map<String, Short> features = new HashMap<>();

    VersionTable(ApiVersionsResponse answer) {
        for (ApiVersionsResponse.ApiVersion served : answer.apiKeys()) {
            ApiKey key = ApiKey.of(served.apiKey());
            if (key != null) {
                ranges.put(key, new short[] {served.minVersion(), served.maxVersion()});
            }
        }
        for (ApiVersionsResponse.FinalizedFeatureKey feature : answer.finalizedFeatures()) {
            features.put(feature.name(), feature.maxVersionLevel());
        }
    }

    /** The level of a feature that is in force (KIP-584); 0 when it is not. */
    short featureLevel(String name) {
        return features.getOrDefault(name, (short) 0);
    }

    /**
     * The newest version that both sides know, or {@link #NONE}.
     *
     * @param newest newest that this client uses
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
