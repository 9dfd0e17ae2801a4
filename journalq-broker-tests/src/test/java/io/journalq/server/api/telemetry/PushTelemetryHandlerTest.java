package io.journalq.server.api.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class PushTelemetryHandlerTest extends HandlerTestBase {
    private static final byte[] MALFORMED = {10, 100};

    @ServedVersions(ApiKey.PUSH_TELEMETRY)
    void shouldAcceptWhatAClientSendsOfItsSubscription(int version) throws Exception {
        assertThat(push(subscribed(), version)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRefuseMetricsWhenTheyAreMalformedOrTheirClientHasNoId() throws Exception {
        assertThat(push(subscribed().setMetrics(Unpooled.wrappedBuffer(MALFORMED)), 0))
                .isEqualTo(ErrorCode.INVALID_RECORD);
        assertThat(push(subscribed().setClientInstanceId(Uuid.ZERO), 0)).isEqualTo(ErrorCode.INVALID_REQUEST);
    }

    /** An empty push of a client that has just requested its subscriptions. */
    private PushTelemetryRequest subscribed() throws Exception {
        GetTelemetrySubscriptionsResponse asked = call(
                GetTelemetrySubscriptionsResponse.class,
                new GetTelemetrySubscriptionsRequest().setClientInstanceId(Uuid.ZERO),
                0);
        return new PushTelemetryRequest()
                .setClientInstanceId(asked.clientInstanceId())
                .setSubscriptionId(asked.subscriptionId())
                .setMetrics(Unpooled.EMPTY_BUFFER);
    }

    private ErrorCode push(PushTelemetryRequest request, int version) throws Exception {
        return error(call(PushTelemetryResponse.class, request, version).errorCode());
    }
}
