package io.journalq.server.api.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

/** On a listener without SASL. {@code SaslTest} covers the others. */
class SaslAuthenticateHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.SASL_AUTHENTICATE)
    void shouldRefuseATokenWhenTheListenerNeedsNone(int version) throws Exception {
        assertThat(error(authenticate(version).errorCode())).isEqualTo(ErrorCode.ILLEGAL_SASL_STATE);
    }

    @Test
    void shouldServeTheClientAfterwardsWhenTheListenerNeedsNoToken() throws Exception {
        assertThat(authenticate(2).errorMessage()).contains("requires no authentication by SASL");

        assertThat(error(metadata("missing").errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    private SaslAuthenticateResponse authenticate(int version) throws Exception {
        return call(
                SaslAuthenticateResponse.class,
                new SaslAuthenticateRequest().setAuthBytes(bytes("\0ada\0password")),
                version);
    }
}
