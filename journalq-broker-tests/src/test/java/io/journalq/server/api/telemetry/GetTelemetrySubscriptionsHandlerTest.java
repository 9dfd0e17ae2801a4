package io.journalq.server.api.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class GetTelemetrySubscriptionsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS)
    void shouldGiveANewClientItsIdAndWhatToSend(int version) throws Exception {
        GetTelemetrySubscriptionsResponse response = ask(Uuid.ZERO, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.clientInstanceId()).isNotEqualTo(Uuid.ZERO);
        assertThat(response.pushIntervalMs()).isPositive();
        assertThat(response.telemetryMaxBytes()).isPositive();
        assertThat(response.acceptedCompressionTypes()).isNotEmpty();
    }

    @Test
    void shouldReportAnErrorWhenTheClientAsksAgainTooSoon() throws Exception {
        Uuid id = ask(Uuid.ZERO, 0).clientInstanceId();

        assertThat(error(ask(id, 0).errorCode())).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
    }

    private GetTelemetrySubscriptionsResponse ask(Uuid id, int version) throws Exception {
        GetTelemetrySubscriptionsRequest request = new GetTelemetrySubscriptionsRequest().setClientInstanceId(id);
        return call(GetTelemetrySubscriptionsResponse.class, request, version);
    }
}
