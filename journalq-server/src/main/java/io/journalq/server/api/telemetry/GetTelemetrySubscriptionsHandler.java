package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsRequest;
import io.journalq.common.protocol.message.GetTelemetrySubscriptionsResponse;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.telemetry.TelemetrySubscriptions.Selected;
import java.util.List;

/**
 * GetTelemetrySubscriptions, version 0 (KIP-714): which metrics a client sends, and how often. A new client gets its
 * instance id. If no subscription selects the client, it sends none.
 */
public final class GetTelemetrySubscriptionsHandler implements Handler<GetTelemetrySubscriptionsRequest> {
    /** Ordered by preference: the codec that is cheapest for both sides comes first. */
    private static final List<Byte> CODECS = List.of(
            (byte) CompressionCodec.ZSTD.id(),
            (byte) CompressionCodec.LZ4.id(),
            (byte) CompressionCodec.GZIP.id(),
            (byte) CompressionCodec.SNAPPY.id());

    private final Telemetry telemetry;

    public GetTelemetrySubscriptionsHandler(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(
                ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
                0,
                0,
                AccessRule.open("says only which metrics the client is to report"));
    }

    @Override
    public void handle(RequestContext context, GetTelemetrySubscriptionsRequest request) {
        boolean isNew = request.clientInstanceId().equals(Uuid.ZERO);
        Uuid instanceId = isNew ? telemetry.newId() : request.clientInstanceId();
        Selected selected = telemetry.subscriptions().select(ClientAttributes.of(context, instanceId));
        ErrorCode error = telemetry.clients().onAsked(instanceId, selected.intervalMs(), telemetry.nowMs());
        GetTelemetrySubscriptionsResponse response = new GetTelemetrySubscriptionsResponse();
        if (error != ErrorCode.NONE) {
            telemetry.onRefused();
            context.respond(response.setErrorCode(error.code()));
            return;
        }
        context.respond(response.setClientInstanceId(instanceId)
                .setSubscriptionId(selected.id())
                .setAcceptedCompressionTypes(CODECS)
                .setPushIntervalMs(selected.intervalMs())
                .setTelemetryMaxBytes(telemetry.maxSizeBytes())
                .setDeltaTemporality(true)
                .setRequestedMetrics(selected.metrics()));
    }
}
