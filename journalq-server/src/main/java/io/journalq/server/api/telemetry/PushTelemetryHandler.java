package io.journalq.server.api.telemetry;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.PushTelemetryRequest;
import io.journalq.common.protocol.message.PushTelemetryResponse;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.server.api.AccessRule;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.journalq.server.api.telemetry.OtlpMetrics.MalformedMetricsException;
import io.journalq.server.api.telemetry.TelemetrySubscriptions.Selected;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PushTelemetry, version 0 (KIP-714): a client sends the metrics that it was asked for, in OpenTelemetry's format. They
 * are decoded off the loops. Each push becomes one line of the logger {@code journalq.client.metrics}, which is
 * truncated if it is too long.
 */
public final class PushTelemetryHandler implements Handler<PushTelemetryRequest> {
    private static final Logger log = LoggerFactory.getLogger(PushTelemetryHandler.class);
    private static final Logger metricsLog = LoggerFactory.getLogger("journalq.client.metrics");

    /** Maximum decompressed size of a push. */
    private static final int MAX_DECOMPRESSED_BYTES = 8 << 20;

    private final Telemetry telemetry;

    public PushTelemetryHandler(Telemetry telemetry) {
        this.telemetry = telemetry;
    }

    @Override
    public ServedApi api() {
        return new ServedApi(ApiKey.PUSH_TELEMETRY, 0, 0, AccessRule.open("a client reports about itself only"));
    }

    @Override
    public void handle(RequestContext context, PushTelemetryRequest request) {
        ClientAttributes client = ClientAttributes.of(context, request.clientInstanceId());
        ErrorCode error = check(request, client);
        CompressionCodec codec = CompressionCodec.of(request.compressionType());
        int sizeBytes = request.metrics() == null ? 0 : request.metrics().readableBytes();
        if (error != ErrorCode.NONE || sizeBytes == 0) {
            respond(context, error);
            return;
        }
        try {
            telemetry.blockingPool().execute(() -> respond(context, take(client, codec, request.metrics())));
        } catch (RejectedExecutionException overloaded) {
            respond(context, ErrorCode.THROTTLING_QUOTA_EXCEEDED);
        }
    }

    private ErrorCode check(PushTelemetryRequest request, ClientAttributes client) {
        Uuid instanceId = request.clientInstanceId();
        if (instanceId.equals(Uuid.ZERO)) {
            return ErrorCode.INVALID_REQUEST;
        }
        Selected selected = telemetry.subscriptions().select(client);
        ErrorCode error =
                telemetry.clients().onSent(instanceId, selected.intervalMs(), request.terminating(), telemetry.nowMs());
        if (error != ErrorCode.NONE) {
            return error;
        }
        if (request.subscriptionId() != selected.id()) {
            telemetry.clients().letAsk(instanceId);
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID;
        }
        if (CompressionCodec.of(request.compressionType()) == null) {
            telemetry.clients().letAsk(instanceId);
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE;
        }
        boolean tooLarge = request.metrics() != null && request.metrics().readableBytes() > telemetry.maxSizeBytes();
        return tooLarge ? ErrorCode.TELEMETRY_TOO_LARGE : ErrorCode.NONE;
    }

    /** On the blocking pool. */
    private ErrorCode take(ClientAttributes client, CompressionCodec codec, ByteBuf sent) {
        ByteBuf metrics = null;
        try {
            metrics = codec.decompress(sent, MAX_DECOMPRESSED_BYTES, PooledByteBufAllocator.DEFAULT);
            MetricsLine line = new MetricsLine();
            OtlpMetrics.read(metrics, line);
            telemetry.onReceived(sent.readableBytes());
            metricsLog.info(
                    "client={} instance={} software={} version={} address={} {}",
                    MetricsLine.printable(client.clientId()),
                    client.instanceId(),
                    client.softwareName(),
                    client.softwareVersion(),
                    client.address(),
                    line);
            return ErrorCode.NONE;
        } catch (InvalidBatchException | MalformedMetricsException bad) {
            return ErrorCode.INVALID_RECORD;
        } catch (OutOfMemoryError overloaded) {
            return ErrorCode.THROTTLING_QUOTA_EXCEEDED;
        } catch (RuntimeException | Error failure) {
            // Such as a codec that cannot be loaded. The client waits for a response.
            log.error("cannot take the metrics of a client: client={}", client.instanceId(), failure);
            return ErrorCode.UNKNOWN_SERVER_ERROR;
        } finally {
            if (metrics != null) {
                metrics.release();
            }
        }
    }

    private void respond(RequestContext context, ErrorCode error) {
        if (error != ErrorCode.NONE) {
            telemetry.onRefused();
        }
        context.respond(new PushTelemetryResponse().setErrorCode(error.code()));
    }
}
