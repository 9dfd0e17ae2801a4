package io.journalq.server.api;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.ApiKey;

/**
 * An API and the versions of it that a handler serves, both ends included.
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
