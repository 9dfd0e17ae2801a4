package io.journalq.server.api.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

/** On a listener without SASL. {@code SaslTest} covers the others. */
class SaslHandshakeHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.SASL_HANDSHAKE)
    void shouldOfferNoMechanismWhenTheListenerHasNone(int version) throws Exception {
        SaslHandshakeResponse response =
                call(SaslHandshakeResponse.class, new SaslHandshakeRequest().setMechanism("PLAIN"), version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.ILLEGAL_SASL_STATE);
        assertThat(response.mechanisms()).isEmpty();
    }

    @Test
    void shouldServeTheClientAfterwardsWhenTheListenerHasNoMechanism() throws Exception {
        call(SaslHandshakeResponse.class, new SaslHandshakeRequest().setMechanism("PLAIN"), 1);

        assertThat(error(metadata("missing").errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }
}
