package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiKey;

/**
 * An API and the range of versions that a handler serves.
 *
 * @param lowestVersion lowest version served
 * @param highestVersion highest version served
 */
public record ServedApi(ApiKey key, int lowestVersion, int highestVersion) {
    public ServedApi {
        Check.that(
                lowestVersion <= highestVersion && key.hasVersion(lowestVersion) && key.hasVersion(highestVersion),
                "versions that the schema does not have");
    }

    boolean includes(short version) {
        return version >= lowestVersion && version <= highestVersion;
    }
}
