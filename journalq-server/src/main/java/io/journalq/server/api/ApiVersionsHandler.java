package io.journalq.server.api;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.server.metadata.MetadataImage;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * ApiVersions, versions 0 to 4: the served APIs with their versions, as in the registry. A request in an unknown
 * version gets a response in version 0 with the versions of this API alone (KIP-511).
 *
 * <p>Produce is announced from version 0 although versions below 3 are refused. librdkafka up to 2.6 assumes that a
 * broker without Produce 0 does not support compression (KAFKA-18659; Kafka 4 announces the same). SaslHandshake is
 * announced from version 0 although only version 1 is served. librdkafka sends no SaslHandshake to other brokers.
 */
public final class ApiVersionsHandler implements Handler<ApiVersionsRequest> {
    private static final short FIRST_VERSION_WITH_SOFTWARE_NAME = 3;
    private static final short FIRST_VERSION_WITH_FEATURES_FROM_ZERO = 4;
    private static final Pattern SOFTWARE_NAME = Pattern.compile("[a-zA-Z0-9](?:[a-zA-Z0-9\\-.]*[a-zA-Z0-9])?");

    private final HandlerRegistry registry;
    private final Supplier<MetadataImage> images;

    /** @param images supplies the newest image, with the levels of features */
    public ApiVersionsHandler(HandlerRegistry registry, Supplier<MetadataImage> images) {
        this.registry = registry;
        this.images = images;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.API_VERSIONS, 0, 4, AccessRule.open("a client needs it before it logs in"));
    }

    @Override
    public void handle(RequestContext context, ApiVersionsRequest request) {
        ApiVersionsResponse response = new ApiVersionsResponse();
        if (context.apiVersion() >= FIRST_VERSION_WITH_SOFTWARE_NAME && !namesSoftware(request)) {
            response.setErrorCode(ErrorCode.INVALID_REQUEST.code());
        } else {
            ClientSoftware.of(context).set(request.clientSoftwareName(), request.clientSoftwareVersion());
            response.setApiKeys(
                    registry.all().stream().map(ApiVersionsHandler::range).toList());
            addFeatures(context.apiVersion(), response);
        }
        context.respond(response);
    }

    /** The response, in version 0, to a version that is not served. */
    static ApiVersionsResponse unknownVersion(HandlerRegistry.Served apiVersions) {
        return new ApiVersionsResponse()
                .setErrorCode(ErrorCode.UNSUPPORTED_VERSION.code())
                .setApiKeys(List.of(range(apiVersions)));
    }

    /**
     * Clients before version 4 do not accept a feature whose range begins at level 0. A feature that is off has no
     * level in force.
     */
    private void addFeatures(short version, ApiVersionsResponse response) {
        if (version >= FIRST_VERSION_WITH_FEATURES_FROM_ZERO) {
            MetadataImage image = images.get();
            response.setSupportedFeatures(Arrays.stream(Feature.values())
                            .map(feature -> new ApiVersionsResponse.SupportedFeatureKey()
                                    .setName(feature.featureName())
                                    .setMinVersion((short) 0)
                                    .setMaxVersion(feature.highestLevel()))
                            .toList())
                    .setFinalizedFeaturesEpoch(image.version())
                    .setFinalizedFeatures(Arrays.stream(Feature.values())
                            .filter(feature -> feature.level(image) > 0)
                            .map(feature -> new ApiVersionsResponse.FinalizedFeatureKey()
                                    .setName(feature.featureName())
                                    .setMinVersionLevel(feature.level(image))
                                    .setMaxVersionLevel(feature.level(image)))
                            .toList());
        }
    }

    private static boolean namesSoftware(ApiVersionsRequest request) {
        return SOFTWARE_NAME.matcher(request.clientSoftwareName()).matches()
                && SOFTWARE_NAME.matcher(request.clientSoftwareVersion()).matches();
    }

    private static ApiVersionsResponse.ApiVersion range(HandlerRegistry.Served served) {
        ServedApi api = served.api();
        boolean fromZero = api.key() == ApiKey.PRODUCE || api.key() == ApiKey.SASL_HANDSHAKE;
        int lowest = fromZero ? 0 : api.lowestVersion();
        return new ApiVersionsResponse.ApiVersion()
                .setApiKey(api.key().id())
                .setMinVersion((short) lowest)
                .setMaxVersion((short) api.highestVersion());
    }
}
