package io.journalq.server.api.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import org.junit.jupiter.api.Test;

class TelemetryClientsTest {
    private static final int INTERVAL_MS = 1_000;

    private final TelemetryClients clients = new TelemetryClients();

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
    void shouldForgetThoseThatWereSilentForLongestWhenThereAreTooMany() {
        for (int i = 0; i <= TelemetryClients.MAX_CLIENTS; i++) {
            ask(i, 0);
        }

        assertThat(clients.count()).isEqualTo(TelemetryClients.MAX_CLIENTS);
        assertThat(ask(0, 1)).isEqualTo(ErrorCode.NONE);
        assertThat(ask(TelemetryClients.MAX_CLIENTS, 1)).isEqualTo(ErrorCode.THROTTLING_QUOTA_EXCEEDED);
    }
}
