package io.journalq.server.api.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.server.memory.ChargedBytes;
import io.journalq.server.memory.RetainedBytes;
import org.junit.jupiter.api.Test;

class TelemetryClientsTest {
    private static final int INTERVAL_MS = 1_000;

    private final ChargedBytes memory = new ChargedBytes();
    private final TelemetryClients clients = new TelemetryClients(memory);

    private ErrorCode ask(long client, long nowMs) {
        return clients.onAsked(new Uuid(1, client), INTERVAL_MS, nowMs);
    }

    @Test
    void shouldForgetClientsWhenTheyWereSilentForSomeIntervals() {
        // given
        for (int i = 0; i < 100; i++) {
            ask(i, i);
        }

        // when
        ask(1_000, 3_050);

        // then
        assertThat(clients.count()).isEqualTo(50);
        assertThat(ask(99, 3_051)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRememberAClientWhenOthersAskMoreOften() {
        // given
        clients.onAsked(new Uuid(2, 0), 600_000, 0);

        // when
        ask(1, 100_000);
        ask(2, 200_000);

        // then
        assertThat(clients.onAsked(new Uuid(2, 0), 600_000, 200_001)).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
    }

    @Test
    void shouldRefuseNewClientsAndServeKnownOnesWhenThereIsNoRoom() {
        // given
        ask(0, 0);
        ask(1, 500);
        memory.maxBytes = memory.bytes;

        // when, then
        assertThat(ask(2, 500)).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
        assertThat(clients.onSent(new Uuid(1, 2), INTERVAL_MS, false, 500))
                .isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
        assertThat(clients.onSent(new Uuid(1, 0), INTERVAL_MS, false, 500)).isEqualTo(ErrorCode.NONE);
        assertThat(clients.count()).isEqualTo(2);

        // and when a client sent no request for some intervals
        assertThat(ask(2, 3_499)).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
        assertThat(ask(2, 3_500)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldChargeNothingWhenAllClientsAreForgotten() {
        for (int i = 0; i < 100; i++) {
            ask(i, i);
        }
        assertThat(memory.bytes).isEqualTo(100L * TelemetryClients.CLIENT_BYTES);

        ask(100, 10_000);

        assertThat(memory.bytes).isEqualTo(TelemetryClients.CLIENT_BYTES);
    }

    @Test
    void shouldEstimateClients() {
        long before = RetainedBytes.of(clients);
        for (int i = 0; i < 500; i++) {
            ask(i, 0);
        }

        RetainedBytes.assertEstimate("clients with metrics", memory.bytes, RetainedBytes.of(clients) - before);
    }
}
